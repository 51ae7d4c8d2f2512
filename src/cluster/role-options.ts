/** Options that every role takes in addition to its own. */
export interface RoleOptions {
  readonly now: () => number;
  readonly log: (line: string) => void;
}
