/** Native column types, spelled as the interface spells them. STRING covers multi-value strings too. */
export type ColumnType = 'STRING' | 'LONG' | 'FLOAT' | 'DOUBLE';

export const TIME_COLUMN = '__time';

export interface ColumnSchema {
  readonly name: string;
  readonly type: ColumnType;
  readonly multiValue: boolean;
  readonly hasNulls: boolean;
}
