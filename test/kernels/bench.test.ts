import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runKernelBench } from '../../bench/kernels/main.js';

const bench = suite('kernel bench');

bench('all sets give the same answers to every case', () => {
  const { figures } = runKernelBench({ sets: ['simd', 'scalar', 'reference'], json: null, smoke: true });
  assert.ok(figures.length > 50);
  for (const figure of figures) {
    assert.ok(
      Object.values(figure.rowsPerSecond).every((rate) => rate > 0),
      figure.case,
    );
  }
});

bench.run();
