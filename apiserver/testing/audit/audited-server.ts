import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseFlags } from '../../../shared/flags/parse-flags';
import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import { PATIENCE_MS } from '../../../shared/testing/eventually';
import { completeOptions } from '../../compose/options/complete-options';
import { FLAG_ROWS } from '../../compose/options/flag-rows';
import { runServer } from '../../run';

export interface Reply {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly raw?: Buffer | string;
  /** Empty sends none. */
  readonly token?: string;
}

/** An event as it stands in the log. */
// eslint-disable-next-line typescript/no-explicit-any
export type LoggedEvent = any;

/** The whole server, started by its flags on a store of its own. */
export interface AuditedServer {
  readonly dir: string;
  readonly port: number;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** The answer as soon as its head is there; the test reads or destroys it. */
  open(method: string, path: string, options?: CallOptions): Promise<IncomingMessage>;
  /** Everything in the audit log, by the id that the test gave the request. */
  events(id?: string): LoggedEvent[];
  /** The same, once there are so many. */
  untilEvents(id: string, count: number): Promise<LoggedEvent[]>;
  /** Resolves when the log has text like this. */
  untilLogged(text: RegExp): Promise<void>;
  stop(): Promise<void>;
}

const POLICY_HEAD = { apiVersion: `${GROUP.audit}/v1`, kind: 'Policy' };

export interface AuditedServerOptions {
  readonly policy: object;
  /** Beside those for the store, the certificate, the tokens and the policy. The log is `audit.log` in `dir`. */
  readonly flags?: readonly string[];
  readonly log?: Log;
}

export function temporaryDirectory(): string {
  return mkdtempSync(path.join(tmpdir(), 'audit-'));
}

export async function startAuditedServer(
  options: AuditedServerOptions,
  dir = temporaryDirectory(),
): Promise<AuditedServer> {
  writeFileSync(path.join(dir, 'policy.yaml'), JSON.stringify({ ...POLICY_HEAD, ...options.policy }));
  writeFileSync(
    path.join(dir, 'tokens.csv'),
    'letmein,alice,42,"system:masters,readers"\nweak,bob,7,readers\n',
  );
  const parsed = parseFlags(FLAG_ROWS, [
    '--storage-backend=embedded',
    `--embedded-dir=${path.join(dir, 'store')}`,
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    `--cert-dir=${path.join(dir, 'certs')}`,
    `--token-auth-file=${path.join(dir, 'tokens.csv')}`,
    `--audit-policy-file=${path.join(dir, 'policy.yaml')}`,
    `--audit-log-path=${path.join(dir, 'audit.log')}`,
    ...(options.flags ?? []),
  ]);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  const completed = completeOptions(parsed.values);
  if (!completed.ok) throw new Error(completed.errors.join('\n'));
  const stop = new AbortController();
  const started = startOf(options.log ?? silentLog);
  const build = { version: '0.0.0', commit: '', treeState: '', date: '' };
  const served = runServer(
    { options: completed.options, log: started.log, logFailure: () => undefined, build },
    stop.signal,
  );
  const port = await Promise.race([
    started.port,
    served.then(() => Promise.reject(new Error('the server has ended'))),
  ]);
  const logFile = path.join(dir, 'audit.log');
  const events: AuditedServer['events'] = (id) =>
    eventsIn(logFile).filter(({ auditID }) => id === undefined || auditID === id);
  const open: AuditedServer['open'] = async (method, url, call = {}) => send(port, method, url, call);
  return {
    dir,
    port,
    open,
    call: async (method, url, call) => replyOf(await open(method, url, call)),
    events,
    untilEvents: async (id, count) => {
      await untilChanged(dir, () => events(id).length >= count);
      return events(id);
    },
    untilLogged: async (text) => untilChanged(dir, () => text.test(readFileSync(logFile, 'utf8'))),
    stop: async () => {
      stop.abort();
      await served;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Resolves once files in the directory have changed such that the condition holds. */
async function untilChanged(dir: string, condition: () => boolean): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const watcher = watch(dir);
    const timer = setTimeout(() => {
      watcher.close();
      reject(new Error('what was waited for did not happen'));
    }, PATIENCE_MS);
    const look = (): void => {
      if (!condition()) return;
      clearTimeout(timer);
      watcher.close();
      resolve();
    };
    watcher.on('change', look);
    look();
  });
}

/** The events in a log of format `json`. */
function eventsIn(file: string): LoggedEvent[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

/** A log that tells the port once the server is ready. */
function startOf(inner: Log): { readonly log: Log; readonly port: Promise<number> } {
  let port = 0;
  let ready: (port: number) => void = () => undefined;
  const promise = new Promise<number>((resolve) => {
    ready = resolve;
  });
  const info = (fields: object, message: string): void => {
    inner.info(fields, message);
    if ('port' in fields && typeof fields.port === 'number') ({ port } = fields as { port: number });
    if (message === 'ready') ready(port);
  };
  const log: Log = { ...inner, info, child: () => log };
  return { log, port: promise };
}

async function send(
  port: number,
  method: string,
  url: string,
  { headers = {}, body, raw, token = 'letmein' }: CallOptions,
): Promise<IncomingMessage> {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path: url,
        agent: false,
        rejectUnauthorized: false,
        headers: {
          ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined
            ? {}
            : { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
          ...headers,
        },
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(payload);
  });
}

async function replyOf(response: IncomingMessage): Promise<Reply> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return {
    code: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(parts).toString('utf8'),
  };
}
