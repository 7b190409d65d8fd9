/* The swap chain of src/unshuffle/kernels/swap.py, in C: what its speed is measured against.
   `chain_counter` draws as the kernel does, `chain_xoroshiro` from a sequential generator. */
#include <math.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* slots: rows of (mu, held label, sum, counted), as in the kernel */
static inline int64_t swap_labels(double *a, double *b, int64_t *pa, int64_t *pb, double now) {
    double la = a[1], lb = b[1];
    a[2] += la * (now - a[3]);
    b[2] += lb * (now - b[3]);
    a[3] = b[3] = now;
    a[1] = lb;
    b[1] = la;
    int64_t held = *pa;
    *pa = *pb;
    *pb = held;
    return 1;
}

int64_t chain_counter(double *slots, int64_t *perm, int64_t n, double precision, uint64_t key,
                      int64_t steps) {
    const uint64_t golden = 0x9E3779B97F4A7C15ULL;
    int64_t accepted = 0;
    for (int64_t t = 1; t <= steps; t++) {
        uint64_t bits = mix(key + 2 * (uint64_t)t * golden);
        int64_t i = ((bits >> 32) * (uint64_t)n) >> 32;
        int64_t j = ((bits & 0xFFFFFFFFULL) * (uint64_t)n) >> 32;
        double *a = slots + 4 * i, *b = slots + 4 * j;
        double log_ratio = (a[0] - b[0]) * (b[1] - a[1]) * precision;
        if (log_ratio < 0.0) {
            if (log_ratio < -37.0) continue;
            uint64_t more = mix(key + (2 * (uint64_t)t + 1) * golden);
            if ((double)(more >> 11) * 0x1p-53 >= exp(log_ratio)) continue;
        } else if (i == j) continue;
        accepted += swap_labels(a, b, perm + i, perm + j, (double)(t - 1));
    }
    return accepted;
}

int64_t chain_xoroshiro(double *slots, int64_t *perm, int64_t n, double precision, uint64_t key,
                        int64_t steps) {
    uint64_t s0 = mix(key), s1 = mix(key + 1);
    int64_t accepted = 0;
    for (int64_t t = 1; t <= steps; t++) {
        uint64_t bits = s0 + s1;
        s1 ^= s0; s0 = rotate(s0, 24) ^ s1 ^ (s1 << 16); s1 = rotate(s1, 37);
        int64_t i = ((bits >> 32) * (uint64_t)n) >> 32;
        int64_t j = ((bits & 0xFFFFFFFFULL) * (uint64_t)n) >> 32;
        double *a = slots + 4 * i, *b = slots + 4 * j;
        double log_ratio = (a[0] - b[0]) * (b[1] - a[1]) * precision;
        if (log_ratio < 0.0) {
            if (log_ratio < -37.0) continue;
            uint64_t more = s0 + s1;
            s1 ^= s0; s0 = rotate(s0, 24) ^ s1 ^ (s1 << 16); s1 = rotate(s1, 37);
            if ((double)(more >> 11) * 0x1p-53 >= exp(log_ratio)) continue;
        } else if (i == j) continue;
        accepted += swap_labels(a, b, perm + i, perm + j, (double)(t - 1));
    }
    return accepted;
}
