/**
 * Number of generated cases of a property. `npm test` runs `usual` of them; `TEST_CASES=10 npm test` ten times as many, which
 * is what the nightly run does.
 */
export function caseCount(usual: number): number {
  const factor = Number(process.env['TEST_CASES'] ?? 1);
  if (!(factor > 0)) throw new Error(`TEST_CASES is ${process.env['TEST_CASES']}; expected a number above 0`);
  return Math.max(1, Math.round(usual * factor));
}
