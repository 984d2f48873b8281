/** Exit codes of the program; the table is in the README. */
export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  auth: 41,
  input: 42,
  config: 52,
  maxTurns: 53,
  blocked: 54,
  budget: 55,
  retryLater: 75,
  interrupted: 130,
} as const;
