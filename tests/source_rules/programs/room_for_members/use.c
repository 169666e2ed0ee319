#include "session.h"

int main(void) { return (int)make()->sent; }
