/* What the server was told; a variable more in here moves what is linked behind it. */
#include "settings.h"

long port = 4711;
char greeting[96] = "hello";
#ifdef EXTRA_SETTING
char banner[32] = "welcome";
#endif
