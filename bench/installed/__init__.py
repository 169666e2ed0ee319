"""Programs and libraries as Debian installs them: what an audit says of each, and how long it takes."""
