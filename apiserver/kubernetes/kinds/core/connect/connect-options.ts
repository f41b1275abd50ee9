import { badRequest } from '../../../../../shared/errors/status-error';
import { parseTime } from '../../../../../shared/meta/time';
import { boolParameter } from '../../../../engine/request/bool-parameter';

/** What a client wants of the streams of a container. */
export interface StreamOptions {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
  readonly container?: string;
}

export interface ExecOptions extends StreamOptions {
  readonly command?: readonly string[];
}

export interface PortForwardOptions {
  readonly ports?: readonly number[];
}

export interface ProxyOptions {
  readonly path?: string;
}

/** What a client wants of a log. */
export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly sinceSeconds: number | undefined;
  /** The form that the node agent expects. */
  readonly sinceTime: string | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly insecureSkipTLSVerifyBackend: boolean;
}

const STREAM_FLAGS = ['stdin', 'stdout', 'stderr', 'tty'] as const;

export function streamOptionsIn(query: URLSearchParams): StreamOptions {
  const flags = STREAM_FLAGS.filter((name) => boolParameter(query, name)).map((name) => [name, true]);
  const container = query.get('container') ?? '';
  return { ...Object.fromEntries(flags), ...(container === '' ? {} : { container }) };
}

export function execOptionsIn(query: URLSearchParams): ExecOptions {
  return { ...streamOptionsIn(query), command: query.getAll('command') };
}

export function portForwardOptionsIn(query: URLSearchParams): PortForwardOptions {
  const ports = query.getAll('ports').map((text) => integer(text, INT32));
  return ports.length === 0 ? {} : { ports };
}

export function proxyOptionsIn(query: URLSearchParams): ProxyOptions {
  const path = query.get('path') ?? '';
  return path === '' ? {} : { path };
}

export function logOptionsIn(query: URLSearchParams): LogOptions {
  return {
    container: query.get('container') ?? '',
    follow: boolParameter(query, 'follow'),
    previous: boolParameter(query, 'previous'),
    timestamps: boolParameter(query, 'timestamps'),
    sinceSeconds: optionalInteger(query, 'sinceSeconds'),
    sinceTime: timeIn(query.get('sinceTime')),
    tailLines: optionalInteger(query, 'tailLines'),
    limitBytes: optionalInteger(query, 'limitBytes'),
    insecureSkipTLSVerifyBackend: boolParameter(query, 'insecureSkipTLSVerifyBackend'),
  };
}

const INT32 = 32;
const INT64 = 64;

function optionalInteger(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : integer(text, INT64);
}

function integer(text: string, bits: number): number {
  const quoted = JSON.stringify(text);
  if (!/^[+-]?\d{1,20}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const value = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(bits, value) !== value) {
    throw badRequest(`strconv.ParseInt: parsing ${quoted}: value out of range`);
  }
  return Number(value);
}

/** Older clients write a time that is not there as JSON. */
function timeIn(text: string | null): string | undefined {
  if (text === null || text === '' || text === 'null') return undefined;
  if (parseTime(text) === undefined) {
    const quoted = JSON.stringify(text);
    throw badRequest(
      `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`,
    );
  }
  return text;
}
