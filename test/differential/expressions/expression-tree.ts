/** An expression as a tree, so that it can be made smaller. */
export type Tree =
  | { readonly kind: 'leaf'; readonly text: string; readonly tag?: string }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Tree[] }
  | { readonly kind: 'operator'; readonly name: string; readonly arguments: readonly Tree[] }
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Tree };

export function leaf(text: string, tag?: string): Tree {
  return tag === undefined ? { kind: 'leaf', text } : { kind: 'leaf', text, tag };
}

export function printTree(tree: Tree): string {
  switch (tree.kind) {
    case 'leaf':
      return tree.text;
    case 'call':
      return `${tree.name}(${tree.arguments.map(printTree).join(', ')})`;
    case 'operator':
      if (tree.arguments.length === 1) return `${tree.name}(${tree.arguments.map(printTree).join('')})`;
      return `(${tree.arguments.map(printTree).join(` ${tree.name} `)})`;
    case 'lambda':
      return `(${tree.parameters.join(', ')}) -> ${printTree(tree.body)}`;
  }
}

/** Functions, operators and columns that occur in a tree. */
export function tagsOf(tree: Tree): string[] {
  if (tree.kind === 'leaf') return tree.tag === undefined ? [] : [tree.tag];
  if (tree.kind === 'lambda') return tagsOf(tree.body);
  return [tree.name, ...tree.arguments.flatMap(tagsOf)];
}

const SIMPLE: readonly Tree[] = [leaf('null'), leaf('1'), leaf("'a'")];

/** Smaller trees: a part in place of the whole, a simple literal in place of a part, the same within. */
export function* shrinkTree(tree: Tree): Generator<Tree> {
  if (tree.kind === 'leaf') return;
  if (tree.kind === 'lambda') {
    for (const body of shrinkTree(tree.body)) yield { ...tree, body };
    return;
  }
  for (const part of tree.arguments) if (part.kind !== 'lambda') yield part;
  if (tree.kind === 'call' && tree.arguments.length > 1) {
    for (let at = tree.arguments.length - 1; at >= 0; at--) yield { ...tree, arguments: tree.arguments.toSpliced(at, 1) };
  }
  for (const [at, part] of tree.arguments.entries()) {
    if (part.kind === 'call' || part.kind === 'operator')
      for (const simple of SIMPLE) yield { ...tree, arguments: tree.arguments.with(at, simple) };
    for (const smaller of shrinkTree(part)) yield { ...tree, arguments: tree.arguments.with(at, smaller) };
  }
}
