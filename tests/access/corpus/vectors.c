/* Loops that compilers vectorise, wide copies of structs, floating point, conversions. */
#include <stdint.h>
float a[128], b[128], c[128];
int ia[64], ib[64];
double da[32];
uint8_t pixels[512];
struct wide { long w[8]; } wide1, wide2;
static struct wide saved[4];
long double ext;
int64_t whole;
void add(void) { for (int i = 0; i < 128; i++) c[i] = a[i] + b[i]; }
int dot(void) { int s = 0; for (int i = 0; i < 64; i++) s += ia[i] * ib[i]; return s; }
void brighten(void) { for (int i = 0; i < 512; i++) pixels[i] = (uint8_t)(pixels[i] + 3); }
void scale(double f) { for (int i = 0; i < 32; i++) da[i] *= f; }
void copy(void) { wide1 = wide2; }
void save(int i) { saved[i] = wide1; saved[0].w[2] = wide2.w[1]; }
void to_whole(void) { whole = (int64_t)ext; ext = (long double)whole; }
void to_float(void) { a[0] = (float)whole; a[1] = (float)da[2]; ia[3] = (int)a[4]; ib[2] = (int)da[1]; }
int any(void) { for (int i = 0; i < 64; i++) if (ia[i] > ib[i]) return 1; return 0; }
void swap(void) { struct wide t = wide1; wide1 = saved[2]; saved[2] = t; }
float biggest(void) { float m = a[0]; for (int i = 1; i < 128; i++) m = a[i] > m ? a[i] : m; return m; }
int main(int argc, char **argv) {
  (void)argv;
  add(); brighten(); scale(argc); copy(); save(argc & 3); to_whole(); to_float(); swap();
  return dot() + any() + (int)biggest();
}
