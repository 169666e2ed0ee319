#pragma once

extern long port;
extern char greeting[96];
