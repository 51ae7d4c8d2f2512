// Order of version strings, as Maven defines it.

/**
 * The order of versions that Maven defines: parts between `.`, `-` and where digits meet letters; numbers by value, words by
 * the stage they name (alpha, beta, milestone, rc, snapshot, the release itself, sp) and else as strings, after a release and before
 * numbers. A part that is missing is as a release: `1`, `1.0` and `1-final` are equal.
 */
export function compareVersions(a: string, b: string): number {
  return compareParts(partsOf(a), partsOf(b));
}

type Part = bigint | string | readonly Part[];

const STAGES: readonly string[] = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const RELEASE = STAGES.indexOf('');
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['ga', ''],
  ['final', ''],
  ['cr', 'rc'],
]);
/** Short names of a stage right before a digit. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
]);

/** Every hyphen, and every change between digits and letters, begins a list within the list. */
function partsOf(version: string): readonly Part[] {
  const root: Part[] = [];
  const open: Part[][] = [root];
  let list = root;
  const nest = (): void => {
    const inner: Part[] = [];
    list.push(inner);
    open.push(inner);
    list = inner;
  };
  const text = version.toLowerCase();
  let start = 0;
  let isDigits = false;
  const take = (end: number, isBeforeDigit: boolean): void => {
    list.push(isDigits ? numberOf(text.slice(start, end)) : stageOf(text.slice(start, end), isBeforeDigit));
  };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '.' || character === '-') {
      if (at === start) list.push(0n);
      else take(at, false);
      start = at + 1;
      if (character === '-') nest();
    } else {
      const isDigit = character < '\u0080' ? character >= '0' && character <= '9' : DIGIT.test(character);
      if (isDigit !== isDigits && at > start) {
        take(at, isDigit);
        start = at;
        nest();
      }
      isDigits = isDigit;
    }
  }
  if (text.length > start) take(text.length, false);
  for (const each of open.reverse()) trim(each);
  return root;
}

const DIGIT = /\p{Nd}/u;

/** A number in the digits of any script: those of one script are ten in a row. */
function numberOf(digits: string): bigint {
  if (/^[0-9]+$/.test(digits)) return BigInt(digits);
  return BigInt(digits.replace(/[^0-9]/g, (digit) => String(valueOf(digit.charCodeAt(0)))));
}

/** The value of a digit: how many digits come before it, back to the zero of its script. */
function valueOf(code: number): number {
  let value = 0;
  while (value < 9 && DIGIT.test(String.fromCharCode(code - value - 1))) value++;
  return value;
}

function stageOf(word: string, isBeforeDigit: boolean): string {
  const long = (isBeforeDigit ? SHORT.get(word) : undefined) ?? word;
  return ALIASES.get(long) ?? long;
}

/** Parts at the end that say nothing are left out; lists are passed over. */
function trim(list: Part[]): void {
  for (let at = list.length - 1; at >= 0; at--) {
    const part = list[at];
    if (part === 0n || part === '' || (Array.isArray(part) && part.length === 0)) list.splice(at, 1);
    else if (!Array.isArray(part)) break;
  }
}

function compareParts(left: readonly Part[], right: readonly Part[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const [x, y] = [left[at], right[at]];
    const order = x === undefined ? (y === undefined ? 0 : -withNothing(y)) : y === undefined ? withNothing(x) : comparePart(x, y);
    if (order !== 0) return order;
  }
  return 0;
}

/** A part beside one that is missing; of a list its first part decides. */
function withNothing(part: Part): number {
  if (typeof part === 'bigint') return part === 0n ? 0 : 1;
  if (typeof part === 'string') return compareStages(part, '');
  const [first] = part;
  return first === undefined ? 0 : withNothing(first);
}

/** Words before lists before numbers. */
function comparePart(x: Part, y: Part): number {
  if (typeof x === 'bigint' && typeof y === 'bigint') return x < y ? -1 : x > y ? 1 : 0;
  if (typeof x === 'string' && typeof y === 'string') return compareStages(x, y);
  if (typeof x === 'object' && typeof y === 'object') return compareParts(x, y);
  return rankOf(x) - rankOf(y);
}

function rankOf(part: Part): number {
  return typeof part === 'bigint' ? 2 : typeof part === 'string' ? 0 : 1;
}

function compareStages(x: string, y: string): number {
  const [left, right] = [STAGES.indexOf(x), STAGES.indexOf(y)];
  if (left >= 0 || right >= 0) return (left < 0 ? RELEASE + 2 : left) - (right < 0 ? RELEASE + 2 : right);
  return x < y ? -1 : x > y ? 1 : 0;
}
