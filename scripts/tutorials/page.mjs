// A page of documentation: its fenced blocks and tables, by their place on the page.
import { readFileSync } from 'node:fs';

/** A page in Markdown. Blocks are found by language and number, from 0, in the order of the page. */
export class Page {
  #parts;

  constructor(file) {
    this.#parts = partsOf(readFileSync(file, 'utf8').split('\n'));
  }

  /** Text of the nth block of a language. */
  text(language, n) {
    return this.#nth(language, n).text;
  }

  sql(n) {
    return this.text('sql', n).trim();
  }

  /** Value of the nth block of JSON; commas that are too many or too few on the page are mended. */
  json(n) {
    const text = this.text('json', n);
    return JSON.parse(text.replace(/,(\s*[}\]])/g, '$1').replace(/([}\]"])(\s*\n\s*")/g, '$1,$2'));
  }

  /** Rows of the first table, or of the first lines of JSON, behind the nth block of SQL and before the next one. */
  answer(n) {
    const from = this.#parts.indexOf(this.#nth('sql', n)) + 1;
    const next = this.#parts.findIndex((part, index) => index >= from && part.kind === 'sql');
    const found = this.#parts.slice(from, next < 0 ? undefined : next).find(({ kind }) => kind === 'table' || kind === 'json lines');
    if (found === undefined) throw new Error(`the page gives no rows behind its SQL block ${n}`);
    return found.kind === 'table'
      ? found.rows
      : found.text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
  }

  #nth(kind, n) {
    const found = this.#parts.filter((part) => part.kind === kind)[n];
    if (found === undefined) throw new Error(`the page has no ${kind} block ${n}`);
    return found;
  }
}

function partsOf(lines) {
  const parts = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = /^(\s*)```(.*)$/.exec(lines[at]);
    if (fence !== null) {
      const begin = ++at;
      while (at < lines.length && lines[at].trim() !== '```') at++;
      const text = lines.slice(begin, at).map((line) => line.slice(Math.min(fence[1].length, line.length - line.trimStart().length)));
      parts.push({ kind: fence[2].trim(), text: text.join('\n') });
    } else if (/^\s*\|/.test(lines[at])) {
      const begin = at;
      while (at < lines.length && /^\s*\|/.test(lines[at])) at++;
      parts.push({ kind: 'table', rows: tableRows(lines.slice(begin, at--)) });
    }
  }
  return parts;
}

/** Rows as objects of strings; numbers lose the commas between their thousands. */
function tableRows([head, , ...body]) {
  const names = cellsOf(head);
  return body.map((line) => Object.fromEntries(cellsOf(line).map((cell, index) => [names[index], cell])));
}

function cellsOf(line) {
  const cells = line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|');
  return cells
    .map((cell) => cell.trim().replace(/^`(.*)`$/, '$1'))
    .map((cell) => (/^\d{1,3}(,\d{3})+$/.test(cell) ? cell.replaceAll(',', '') : cell));
}
