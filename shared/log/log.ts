/** The logger of every part of orch. Fields are plain values; a message is lower-case without a full stop. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Returns a log with these fields in every line. */
  child(fields: object): Log;
}

/** Says nothing; for tests and for parts that got no log. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLog,
};
