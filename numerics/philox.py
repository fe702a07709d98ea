"""Counter-based random words by Philox4x32-10, and Gaussians and subsets from them, in compiled code on the CPU.

A word depends only on its key and counter, so that samples can be drawn in any order and on any number of threads
(Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
"""

from typing import Any

import numpy as np

from numerics.compiled import exactly


@exactly
def philox(key: Any, sample: Any, step: Any, out: Any) -> None:
    """Fill `out`, (4, blocks) of uint32: column b becomes the four words of a key at the counter (b, sample, step).

    `key` and `step` have 64 bits, `sample` has 32 bits.
    """
    M0, M1, low, half = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57), np.uint64(0xFFFFFFFF), np.uint64(32)
    W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
    key, sample, step = np.uint64(key), np.uint64(sample), np.uint64(step)
    for block in range(out.shape[1]):
        c0, c1, c2, c3 = np.uint64(block) & low, sample & low, step & low, step >> half
        k0, k1 = key & low, key >> half
        for _ in range(10):
            first, second = M0 * c0, M1 * c2
            c0, c1, c2, c3 = (second >> half) ^ c1 ^ k0, second & low, (first >> half) ^ c3 ^ k1, first & low
            k0, k1 = (k0 + W0) & low, (k1 + W1) & low
        out[0, block], out[1, block], out[2, block], out[3, block] = c0, c1, c2, c3


@exactly
def rows(key: Any, steps: Any, samples: Any, out: Any) -> None:
    """Fill `out`, (steps, samples, 4, blocks) of uint32, with the words of a key; `steps` and `samples` are uint64."""
    for i in range(len(steps)):
        for j in range(len(samples)):
            philox(key, samples[j], steps[i], out[i, j])


@exactly
def gaussians(words: Any, work: Any, out: Any) -> None:
    """Turn words (2m,) of uint32 into independent N(0, 1), `out` (2m,); `work` is (m,) of float64.

    Box and Muller's transform, with 32 bits for the radius and 32 bits for the angle. No number exceeds 6.764 in
    absolute value; N(0, 1) does so with probability 1.3e-11.
    """
    m = len(work)
    halves, bits = words.view(np.int32), work.view(np.uint64)
    for i in range(m):
        work[i] = (np.float64(halves[i]) + 2147483648.5) * 2.0**-32
    # log u = k log 2 + log z with z from √½ to √2, and log z = 2 artanh(s), s = (z − 1)/(z + 1). The series of artanh
    # is cut off after s²¹/21.
    least, exponent = np.uint64(0x3FE6A09E667F3BCD), np.uint64(0xFFF0000000000000)
    bias, mantissa = np.uint64(64 << 52), np.uint64(0x4330000000000000)
    for i in range(m):
        t = bits[i] - least
        z = np.uint64(bits[i] - (t & exponent)).view(np.float64)
        # For an integer j < 2⁵², the float 2⁵² + j has the bits of 2⁵², with those of j as its lowest bits.
        k = np.uint64(((t + bias) >> np.uint64(52)) | mantissa).view(np.float64) - (2.0**52 + 64)
        s = (z - 1) / (z + 1)
        y = s * s
        series = 1 / 21
        series = series * y + 1 / 19
        series = series * y + 1 / 17
        series = series * y + 1 / 15
        series = series * y + 1 / 13
        series = series * y + 1 / 11
        series = series * y + 1 / 9
        series = series * y + 1 / 7
        series = series * y + 1 / 5
        series = series * y + 1 / 3
        work[i] = np.sqrt(-2 * (k * 0.6931471805599453 + 2 * (s + s * y * series)))
    for i in range(m):
        # The angle is `quarter` quarter turns plus x, with x from −π/4 to π/4.
        raw = halves[m + i]
        quarter = (raw + np.int32(1 << 29)) >> np.int32(30)
        x = np.float64(np.int32(raw - (quarter << np.int32(30)))) * (2 * np.pi * 2.0**-32)
        y = x * x
        sine = -1 / 1307674368000
        sine = sine * y + 1 / 6227020800
        sine = sine * y - 1 / 39916800
        sine = sine * y + 1 / 362880
        sine = sine * y - 1 / 5040
        sine = sine * y + 1 / 120
        sine = sine * y - 1 / 6
        sine = x + x * y * sine
        cosine = 1 / 20922789888000
        cosine = cosine * y - 1 / 87178291200
        cosine = cosine * y + 1 / 479001600
        cosine = cosine * y - 1 / 3628800
        cosine = cosine * y + 1 / 40320
        cosine = cosine * y - 1 / 720
        cosine = cosine * y + 1 / 24
        cosine = cosine * y - 1 / 2
        cosine = 1 + y * cosine
        odd = (quarter & np.int32(1)) != 0
        first, second = (-sine, cosine) if odd else (cosine, sine)
        radius = -work[i] if (quarter & np.int32(2)) != 0 else work[i]
        out[i], out[m + i] = radius * first, radius * second


@exactly
def gaussian_rows(words: Any, out: Any) -> None:
    """Turn rows of words, (samples, 2m) of uint32, into rows of independent N(0, 1), `out` (samples, 2m) of float64."""
    work = np.empty(words.shape[1] // 2)
    for i in range(len(words)):
        gaussians(words[i], work, out[i])


@exactly
def subset(words: Any, T: int, out: Any) -> None:
    """Turn words (2q,) of uint32 into a uniformly random subset of 0 to T - 1, `out` (q,), by Floyd's algorithm."""
    q = len(out)
    for i in range(q):
        largest = T - q + i
        # A random number from 0 to `largest`; each value has probability 1/(largest + 1) up to a factor of 1 ± T/2⁶⁴.
        count, low = np.uint64(largest + 1), np.uint64(words[2 * i]) * np.uint64(largest + 1)
        member = np.int64((np.uint64(words[2 * i + 1]) * count + (low >> np.uint64(32))) >> np.uint64(32))
        for j in range(i):
            if out[j] == member:
                member = largest
                break
        out[i] = member
