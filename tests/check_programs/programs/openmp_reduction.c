// ARGS: -fopenmp
// The reduction keeps the partial sums apart.
// no-finding
double sum(const double *x, long n) {
  double all = 0;
#pragma omp parallel for reduction(+ : all)
  for (long i = 0; i < n; i++)
    all += x[i];
  return all;
}
static double data[1000];
int main(void) { return sum(data, 1000) != 0; }
