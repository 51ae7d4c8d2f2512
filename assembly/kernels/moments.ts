import { isAligned } from './lanes';

// Count, sum, mean and squared distances from the mean of each group: four f64, which share a cache line.

/** Values of one group side by side, from so many on, are added together: one by one each waits for the one before. */
@inline
const TOGETHER: usize = 16;

export function addMoments(values: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<u64>(values) && isAligned<u32>(groups) && isAligned<u64>(state));
  for (let i: usize = 0, end = <usize>n; i < end; ) {
    const group = load<u32>(groups + (i << 2));
    const at = state + (<usize>group << 5);
    let next = i + 1;
    while (next < end && load<u32>(groups + (next << 2)) == group) next++;
    if (next - i >= TOGETHER) i += addTogether(values + (i << 3), (next - i) & ~3, at);
    for (; i < next; i++) addOne(load<f64>(values + (i << 3)), at);
  }
}

@inline
function addOne(value: f64, at: usize): void {
  const count = load<f64>(at) + 1;
  const before = load<f64>(at, 16);
  const distance = value - before;
  const mean = before + distance / count;
  store<f64>(at, count);
  store<f64>(at, load<f64>(at, 8) + value, 8);
  store<f64>(at, mean, 16);
  store<f64>(at, load<f64>(at, 24) + distance * (value - mean), 24);
}

/** Sums of every fourth value, and of their squared distances from the mean. Returns the values added: none where their sum is infinite, which the mean need not be. */
function addTogether(values: usize, n: usize, at: usize): usize {
  const end = values + (n << 3);
  let a: f64 = 0;
  let b: f64 = 0;
  let c: f64 = 0;
  let d: f64 = 0;
  for (let value = values; value < end; value += 32) {
    a += load<f64>(value);
    b += load<f64>(value, 8);
    c += load<f64>(value, 16);
    d += load<f64>(value, 24);
  }
  const sum = a + c + (b + d);
  if (!isFinite(sum)) return 0;
  const mean = sum / <f64>n;
  a = b = c = d = 0;
  for (let value = values; value < end; value += 32) {
    const w = load<f64>(value) - mean;
    const x = load<f64>(value, 8) - mean;
    const y = load<f64>(value, 16) - mean;
    const z = load<f64>(value, 24) - mean;
    a += w * w;
    b += x * x;
    c += y * y;
    d += z * z;
  }
  joinOne(<f64>n, sum, mean, a + c + (b + d), at);
  return n;
}

/** Joins the moments of values that are not none. */
@inline
function joinOne(more: f64, sum: f64, otherMean: f64, squares: f64, at: usize): void {
  const own = load<f64>(at);
  // There is no distance from the mean of no value, and its square may be infinite.
  if (own == 0) {
    store<f64>(at, more);
    store<f64>(at, sum, 8);
    store<f64>(at, otherMean, 16);
    store<f64>(at, squares, 24);
    return;
  }
  const count = own + more;
  const mean = load<f64>(at, 16);
  const distance = otherMean - mean;
  const between = ((distance * distance * own) / count) * more;
  store<f64>(at, count);
  store<f64>(at, load<f64>(at, 8) + sum, 8);
  store<f64>(at, mean + (distance * more) / count, 16);
  store<f64>(at, load<f64>(at, 24) + (squares + between), 24);
}

export function joinMoments(from: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<u64>(from) && isAligned<u32>(groups) && isAligned<u64>(state));
  for (let i: usize = 0, end = <usize>n; i < end; i++) {
    const other = from + (i << 5);
    const more = load<f64>(other);
    if (more == 0) continue;
    const at = state + (<usize>load<u32>(groups + (i << 2)) << 5);
    joinOne(more, load<f64>(other, 8), load<f64>(other, 16), load<f64>(other, 24), at);
  }
}
