/** Entry module of a task's process: the compiled module beside this one, or in the bundle with it (`scripts/bundle.mjs`). */
export const TASK_ENTRY = new URL('./task-main.js', import.meta.url);
