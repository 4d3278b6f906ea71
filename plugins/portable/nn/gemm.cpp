#include "portable/nn/gemm.hpp"

#include <algorithm>
#include <cstring>

namespace backplane::portable {
namespace {

constexpr int64_t kRows = 4;  // of the tile in registers
constexpr int64_t kColumns = 16;
constexpr int64_t kRowBlock = 64;  // packed at a time, on the stack of a thread
constexpr int64_t kDepth = 256;
constexpr int64_t kColumnBlock = 1024;

// The tile alone is worth wider registers where the processor has them; without contraction of
// multiply and add the results are the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define BP_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BP_CLONES
#endif

// Vectors by name: compilers don't find them in these loops by themselves.
template <class T>
[[gnu::always_inline]] inline void tile_of(int64_t depth, const T* a, const T* b, T* sums) {
  typedef T Lanes
      __attribute__((vector_size(64), aligned(8)));  // NOLINT: no `using` with attributes in g++ 12
  constexpr int64_t kWide = 64 / sizeof(T);
  constexpr int64_t kVectors = kColumns / kWide;
  Lanes acc[kRows][kVectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Lanes line[kVectors];
    std::memcpy(line, b + p * kColumns, sizeof(line));
    // Unrolled, or the sums stay in memory.
#pragma GCC unroll 8
    for (int64_t i = 0; i < kRows; ++i) {
      const T x = a[p * kRows + i];
#pragma GCC unroll 2
      for (int64_t v = 0; v < kVectors; ++v) acc[i][v] += x * line[v];
    }
  }
  std::memcpy(sums, acc, sizeof(acc));
}

template <class T>
void plain_tile(int64_t depth, const T* a, const T* b, T* sums) {
  std::fill(sums, sums + kRows * kColumns, T{});
  for (int64_t p = 0; p < depth; ++p) {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j)
        sums[i * kColumns + j] += a[p * kRows + i] * b[p * kColumns + j];
    }
  }
}

BP_CLONES void tile(int64_t depth, const float* a, const float* b, float* sums) {
  tile_of(depth, a, b, sums);
}
BP_CLONES void tile(int64_t depth, const double* a, const double* b, double* sums) {
  tile_of(depth, a, b, sums);
}
BP_CLONES void tile(int64_t depth, const int64_t* a, const int64_t* b, int64_t* sums) {
  tile_of(depth, a, b, sums);
}
void tile(int64_t depth, const Complex64* a, const Complex64* b, Complex64* sums) {
  plain_tile(depth, a, b, sums);
}
void tile(int64_t depth, const Complex128* a, const Complex128* b, Complex128* sums) {
  plain_tile(depth, a, b, sums);
}

// Panels of `width` lines, each line's elements `width` apart; short panels end in zeros.
template <class T>
void pack(const T* from, int64_t lines, int64_t depth, int64_t line_step, int64_t depth_step,
          int64_t width, T* to) {
  for (int64_t first = 0; first < lines; first += width) {
    const int64_t n = std::min(width, lines - first);
    for (int64_t p = 0; p < depth; ++p) {
      const T* source = from + first * line_step + p * depth_step;
      for (int64_t i = 0; i < n; ++i) to[i] = source[i * line_step];
      for (int64_t i = n; i < width; ++i) to[i] = T{};
      to += width;
    }
  }
}

// Few rows: every element of b is used once or twice, so packing it would cost more than it saves.
template <class T>
void few_rows(const std::array<int64_t, 3>& mnk, Matrix<T> a, Matrix<T> b, T* c, int64_t ldc,
              int64_t first, int64_t last) {
  const int64_t depth = mnk[2];
  for (int64_t i = 0; i < mnk[0]; ++i) {
    if (b.column == 1) {
      for (int64_t p = 0; p < depth; ++p) {
        const T x = a.data[i * a.row + p * a.column];
        const T* line = b.data + p * b.row;
        T* out = c + i * ldc;
        for (int64_t j = first; j < last; ++j) out[j] += x * line[j];
      }
      continue;
    }
    for (int64_t j = first; j < last; ++j) {
      T sum{};
      for (int64_t p = 0; p < depth; ++p)
        sum += a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
      c[i * ldc + j] += sum;
    }
  }
}

template <class T>
void row_block(int64_t rows, int64_t columns, int64_t depth, const T* a, const T* b, T* c,
               int64_t ldc) {
  T sums[kRows * kColumns];
  for (int64_t j = 0; j < columns; j += kColumns) {
    for (int64_t i = 0; i < rows; i += kRows) {
      tile(depth, a + i * depth, b + j * depth, sums);
      const int64_t height = std::min(kRows, rows - i);
      const int64_t width = std::min(kColumns, columns - j);
      for (int64_t r = 0; r < height; ++r) {
        for (int64_t s = 0; s < width; ++s) c[(i + r) * ldc + j + s] += sums[r * kColumns + s];
      }
    }
  }
}

}  // namespace

template <class T>
Status gemm(Context& ctx, const std::array<int64_t, 3>& mnk, Matrix<T> a, Matrix<T> b, T* c,
            int64_t ldc) {
  const auto [m, n, k] = mnk;
  if (m <= 0 || n <= 0 || k <= 0) return Ok{};
  if (m <= 2) {
    ctx.parallel_for(
        n, 512, [&](int64_t first, int64_t last) { few_rows(mnk, a, b, c, ldc, first, last); });
    return Ok{};
  }
  const int64_t widest = std::min((n + kColumns - 1) / kColumns * kColumns, kColumnBlock);
  BP_ASSIGN_OR_RETURN(T * packed, ctx.scratch<T>(widest * std::min(k, kDepth)));
  for (int64_t j = 0; j < n; j += kColumnBlock) {
    const int64_t columns = std::min(kColumnBlock, n - j);
    for (int64_t p = 0; p < k; p += kDepth) {
      const int64_t depth = std::min(kDepth, k - p);
      pack(b.data + p * b.row + j * b.column, columns, depth, b.column, b.row, kColumns, packed);
      const int64_t blocks = (m + kRowBlock - 1) / kRowBlock;
      ctx.parallel_for(blocks, 1, [&](int64_t first, int64_t last) {
        alignas(64) T panel[kRowBlock * kDepth];  // NOLINT: filled by pack
        for (int64_t block = first; block < last; ++block) {
          const int64_t i = block * kRowBlock;
          const int64_t rows = std::min(kRowBlock, m - i);
          pack(a.data + i * a.row + p * a.column, rows, depth, a.row, a.column, kRows, panel);
          row_block(rows, columns, depth, panel, packed, c + i * ldc + j, ldc);
        }
      });
    }
  }
  return Ok{};
}

template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<float>, Matrix<float>, float*,
                     int64_t);
template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<double>, Matrix<double>,
                     double*, int64_t);
template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<int64_t>, Matrix<int64_t>,
                     int64_t*, int64_t);
template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<Complex64>, Matrix<Complex64>,
                     Complex64*, int64_t);
template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<Complex128>,
                     Matrix<Complex128>, Complex128*, int64_t);

}  // namespace backplane::portable
