/** What every role is given, beside what is its own. */
export interface RoleOptions {
  readonly now: () => number;
  readonly log: (line: string) => void;
}
