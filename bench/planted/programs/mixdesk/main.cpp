// mixdesk - players feed rings, mixing threads sum strips into buses, a meter
// and the automation run beside them.

#include <charconv>
#include <cstdio>
#include <string_view>

#include "desk.hpp"

namespace {

bool parse( int argc, char ** argv, mixdesk::Settings & settings )
{
  for ( int i = 1; i < argc; ++i )
    {
      const std::string_view arg { argv[i] };
      if ( arg == "-m" )
        settings.showMeters = true;
      else if ( arg.starts_with( "-b" ) )
        {
          const auto digits = arg.substr( 2 );
          const auto r = std::from_chars( digits.data(), digits.data() + digits.size(), settings.blocks );
          if ( r.ec != std::errc {} || settings.blocks == 0 )
            return false;
        }
      else
        return false;
    }
  return true;
}

} // namespace

int main( int argc, char ** argv )
{
  mixdesk::Settings settings;
  if ( !parse( argc, argv, settings ) )
    {
      std::fputs( "usage: mixdesk [-m] [-bBLOCKS]\n", stderr );
      return 2;
    }
  auto desk = std::make_unique<mixdesk::Desk>( settings );
  desk->run();
  desk->report();
  return 0;
}
