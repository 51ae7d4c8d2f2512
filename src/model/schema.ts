// Types of columns and schemas of tables.

/** The types of numbers. */
export type NumberType = 'LONG' | 'FLOAT' | 'DOUBLE';

export type PrimitiveType = NumberType | 'STRING';

/** `ARRAY<LONG>`, `ARRAY<DOUBLE>`, `ARRAY<STRING>`, or arrays of these to any depth. */
export type ArrayType = `ARRAY<${string}>`;

/** `COMPLEX<json>`, and the sketches: `COMPLEX<HLLSketch>`, `COMPLEX<thetaSketch>`, ... */
export type ComplexType = `COMPLEX<${string}>`;

/**
 * Types whose values are kept as texts of a dictionary: in segments, in kernel memory, in frames. Arrays are texts of
 * `array-text.ts`, JSON values are compact JSON, sketches the base64 of their bytes (decision 11).
 */
export type TextType = 'STRING' | ArrayType | ComplexType;

/** Native column types, spelled as the interface spells them. STRING covers multi-value strings too. */
export type ColumnType = NumberType | TextType;

export const JSON_TYPE = 'COMPLEX<json>';

export const TIME_COLUMN = '__time';

export interface ColumnSchema {
  readonly name: string;
  readonly type: ColumnType;
  readonly multiValue: boolean;
  readonly hasNulls: boolean;
  /** Different values but null in a segment, or about that many in a table: what plans are chosen by. Left out: not known. */
  readonly distinctCount?: number;
}

export function isNumberType(type: ColumnType | null | undefined): type is NumberType {
  return type === 'LONG' || type === 'DOUBLE' || type === 'FLOAT';
}

export function isTextType(type: ColumnType | null | undefined): type is TextType {
  return type !== null && type !== undefined && !isNumberType(type);
}

export function isArrayType(type: ColumnType | null | undefined): type is ArrayType {
  return type?.startsWith('ARRAY<') ?? false;
}

export function isComplexType(type: ColumnType | null | undefined): type is ComplexType {
  return type?.startsWith('COMPLEX<') ?? false;
}

export function arrayOf(element: ColumnType): ArrayType {
  return `ARRAY<${element}>`;
}

export function elementType(type: ArrayType): ColumnType {
  return type.slice('ARRAY<'.length, -1) as ColumnType;
}

/**
 * The least type that holds the values of all of them: DOUBLE above FLOAT above LONG, STRING above numbers; an array beside
 * anything else is an array of the widest element; JSON above all of these. Sketches beside other types are STRING.
 */
export function widestType(types: Iterable<ColumnType>): ColumnType {
  let widest: ColumnType | undefined;
  for (const type of types) widest = widest === undefined ? type : wider(widest, type);
  return widest ?? 'STRING';
}

const WIDTH: Readonly<Record<PrimitiveType, number>> = { LONG: 1, FLOAT: 2, DOUBLE: 3, STRING: 4 };

function wider(a: ColumnType, b: ColumnType): ColumnType {
  if (a === b) return a;
  if (isPrimitive(a) && isPrimitive(b)) return WIDTH[a] >= WIDTH[b] ? a : b;
  if (isSketchType(a) || isSketchType(b)) return 'STRING';
  if (a === JSON_TYPE || b === JSON_TYPE) return JSON_TYPE;
  const element = wider(isArrayType(a) ? elementType(a) : a, isArrayType(b) ? elementType(b) : b);
  return element === JSON_TYPE ? element : arrayOf(element === 'FLOAT' ? 'DOUBLE' : element);
}

function isPrimitive(type: ColumnType): type is PrimitiveType {
  return Object.hasOwn(WIDTH, type);
}

export function isSketchType(type: ColumnType): boolean {
  return isComplexType(type) && type !== JSON_TYPE;
}

const PRIMITIVE: ReadonlySet<string> = new Set(['STRING', 'LONG', 'FLOAT', 'DOUBLE']);

/** A type as the interface spells it, in any case; undefined when there is none of that name. */
export function parseColumnType(text: string): ColumnType | undefined {
  const upper = text.toUpperCase();
  if (PRIMITIVE.has(upper)) return upper as ColumnType;
  const [, kind, inner = ''] = /^(ARRAY|COMPLEX)<(.+)>$/i.exec(text) ?? [];
  if (kind === undefined) return undefined;
  if (kind.toUpperCase() === 'COMPLEX') return `COMPLEX<${inner}>`;
  const element = parseColumnType(inner);
  return element === undefined ? undefined : arrayOf(element === 'FLOAT' ? 'DOUBLE' : element);
}
