// Strings without the difference of upper and lower case.

/** The string as Java compares it without case: each UTF-16 unit in upper case and then in lower case, so that `ı`, `İ` and `I` are `i`. */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at);
    const upper = unit.toUpperCase();
    folded += (upper.length === 1 ? upper : unit).toLowerCase().charAt(0);
  }
  return folded;
}

const ASCII = /^[\0-\x7f]*$/;
