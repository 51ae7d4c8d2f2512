import { isAligned } from './lanes';

// Count, sum, mean and squared distances from the mean of each group: four f64, which share a cache line.

export function addMoments(values: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<u64>(values) && isAligned<u32>(groups) && isAligned<u64>(state));
  for (let offset: usize = 0, end = <usize>n << 2; offset < end; offset += 4) {
    const at = state + (<usize>load<u32>(groups + offset) << 5);
    const value = load<f64>(values + (offset << 1));
    const count = load<f64>(at) + 1;
    const before = load<f64>(at, 16);
    const distance = value - before;
    const mean = before + distance / count;
    store<f64>(at, count);
    store<f64>(at, load<f64>(at, 8) + value, 8);
    store<f64>(at, mean, 16);
    store<f64>(at, load<f64>(at, 24) + distance * (value - mean), 24);
  }
}

export function joinMoments(from: usize, groups: usize, n: u32, state: usize): void {
  assert(isAligned<u64>(from) && isAligned<u32>(groups) && isAligned<u64>(state));
  for (let i: usize = 0, end = <usize>n; i < end; i++) {
    const other = from + (i << 5);
    const more = load<f64>(other);
    if (more == 0) continue;
    const at = state + (<usize>load<u32>(groups + (i << 2)) << 5);
    const own = load<f64>(at);
    // There is no distance from the mean of no value, and its square may be infinite.
    if (own == 0) {
      memory.copy(at, other, 32);
      continue;
    }
    const count = own + more;
    const mean = load<f64>(at, 16);
    const distance = load<f64>(other, 16) - mean;
    const between = ((distance * distance * own) / count) * more;
    store<f64>(at, count);
    store<f64>(at, load<f64>(at, 8) + load<f64>(other, 8), 8);
    store<f64>(at, mean + (distance * more) / count, 16);
    store<f64>(at, load<f64>(at, 24) + (load<f64>(other, 24) + between), 24);
  }
}
