// Rows of a frame are dealt to threads one by one; each says in an array how far it has come, and the next row waits.
// about: progress
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

void filter_block(int row, int column);

#ifdef FIXED
struct alignas(64) Row {
#else
struct Row {
#endif
  std::atomic<int> progress{0};
};

struct Frame {
  int rows;
  int columns;
  std::atomic<int> next_row{0};
#ifdef EDIT
  bool lossless = false;
#endif
  std::unique_ptr<Row[]> row;
};

static void filter_rows(Frame *frame) {
  for (;;) {
    int r = frame->next_row.fetch_add(1);
    if (r >= frame->rows)
      return;
    for (int c = 0; c < frame->columns; ++c) {
      while (r > 0 && frame->row[r - 1].progress.load(std::memory_order_acquire) <= c)
        std::this_thread::yield();
      filter_block(r, c);
      frame->row[r].progress.store(c + 1, std::memory_order_release);
    }
  }
}

int main(int argc, char **) {
  Frame frame{1080 / 64, 1920 / 64};
  frame.row = std::make_unique<Row[]>(size_t(frame.rows));
  std::vector<std::thread> threads;
  for (int i = 0; i < argc + 3; ++i)
    threads.emplace_back(filter_rows, &frame);
  for (std::thread &thread : threads)
    thread.join();
}
