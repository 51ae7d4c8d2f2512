/** SQL LIKE: `%` is any run of characters, `_` one character, `escape` takes the next character as it is. */
export function matchesLike(text: string, pattern: string, escape: string | null): boolean {
  const units = [...text];
  const parts = likeParts(pattern, escape);
  let at = 0;
  let part = 0;
  let retryPart = -1;
  let retryAt = 0;
  while (at < units.length) {
    const wanted = parts[part];
    if (wanted === ANY_RUN) {
      retryPart = ++part;
      retryAt = at;
    } else if (wanted !== undefined && (wanted === ANY_ONE || wanted === units[at])) {
      at++;
      part++;
    } else if (retryPart >= 0) {
      // Only the last run needs to be tried longer: an earlier one already found its shortest end.
      at = ++retryAt;
      part = retryPart;
    } else {
      return false;
    }
  }
  while (parts[part] === ANY_RUN) part++;
  return part === parts.length;
}

const ANY_RUN = Symbol('any run');
const ANY_ONE = Symbol('any one');

function likeParts(pattern: string, escape: string | null): (string | symbol)[] {
  const parts: (string | symbol)[] = [];
  let escaped = false;
  for (const unit of pattern) {
    if (!escaped && escape !== null && unit === escape) {
      escaped = true;
      continue;
    }
    parts.push(escaped ? unit : unit === '%' ? ANY_RUN : unit === '_' ? ANY_ONE : unit);
    escaped = false;
  }
  return parts;
}
