import { types } from 'node:util';
import type { Logger } from 'pino';
import { destination, pino, stdSerializers } from 'pino';
import pretty from 'pino-pretty';
import type { Log } from './log';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface LogOptions {
  readonly format: LogFormat;
  /** The number of `-v`: from 4 on, debug lines are written too. */
  readonly verbosity: number;
  /** A file descriptor or a path; standard error by default, because standard output is for results. */
  readonly destination?: number | string;
}

export interface ProcessLog {
  readonly log: Log;
  /** Why the last line could not be written (a closed pipe, a full disk); undefined while lines get through. */
  readonly lastError: () => Error | undefined;
}

const STANDARD_ERROR = 2;
const DEBUG_VERBOSITY_MIN = 4;

/**
 * A Log on pino. Lines are written synchronously, so that the last words before a crash are kept; there is no worker thread.
 * `text` is for people, `json` (one object a line) for collectors. An Error under `error` or `cause` is shown with its stack, unless the operating
 * system is the cause: then the messages say what is wrong, and the stack would only hide them.
 */
export function createProcessLog({
  format,
  verbosity,
  destination: target = STANDARD_ERROR,
}: LogOptions): ProcessLog {
  let failure: Error | undefined;
  const file = destination({ dest: target, sync: true });
  file.on('error', (error: Error) => {
    failure = error;
  });
  file.on('write', () => {
    failure = undefined;
  });
  const stream =
    format === 'json'
      ? file
      : pretty({
          destination: file,
          sync: true,
          colorize: typeof target === 'number' && process.stderr.isTTY,
          ignore: 'pid,hostname',
          translateTime: 'SYS:HH:MM:ss.l',
          singleLine: true,
        });
  const logger = pino(
    {
      level: verbosity >= DEBUG_VERBOSITY_MIN ? 'debug' : 'info',
      serializers: { error: serializeError, cause: serializeError },
    },
    stream,
  );
  return { log: onPino(logger), lastError: () => failure };
}

function serializeError(error: unknown): unknown {
  if (!types.isNativeError(error)) return error;
  const chain = listCauses(error);
  if (!chain.some(isFromSystem)) return stdSerializers.err(error);
  // A message often contains that of its cause.
  return chain.reduce(
    (text, { message }) => (text.includes(message) ? text : `${text}: ${message}`),
    error.message,
  );
}

const CAUSES_MAX = 8;

function listCauses(error: Error): readonly Error[] {
  const chain = [error];
  for (let { cause } = error; types.isNativeError(cause) && chain.length < CAUSES_MAX; { cause } = cause)
    chain.push(cause);
  return chain;
}

/** Whether a call of the operating system failed, by Node itself or by LevelDB. */
function isFromSystem(error: Error): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall !== undefined || code === 'LEVEL_IO_ERROR';
}

function onPino(logger: Logger): Log {
  return {
    debug: (fields, message) => {
      logger.debug(fields, message);
    },
    info: (fields, message) => {
      logger.info(fields, message);
    },
    warn: (fields, message) => {
      logger.warn(fields, message);
    },
    error: (fields, message) => {
      logger.error(fields, message);
    },
    child: (fields) => onPino(logger.child(fields)),
  };
}
