import { sleep } from '../../../shared/concurrency/abort';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { pause } from '../../../shared/concurrency/pause';
import type { Connection } from '../../../shared/client/connection';
import { GROUP } from '../../../shared/names';
import { TRIES_MAX, backoffMs, connectTo, isSuccess } from '../remote/remote-service';
import type { ClientRequests } from '../../../shared/metrics/rest-client';
import type { AuditEvent, AuditVersion } from './event';
import type { Sink } from './sink';

export interface WebhookSinkOptions {
  /** A kubeconfig whose server is the address to send events to. */
  readonly configFile: string;
  readonly version: AuditVersion;
  /** The backoff before the first retry, in milliseconds. */
  readonly initialBackoffMs: number;
  readonly requests?: Pick<ClientRequests, 'observerOf' | 'allows'> | undefined;
}

const HURRIED_WAIT_MS = 250;
const SOCKETS_MAX = 16;

/** Sends events as an EventList. Throws KubeconfigError for a file that cannot be used. */
export function createWebhookSink({
  configFile,
  version,
  initialBackoffMs,
  requests,
}: WebhookSinkOptions): Sink {
  const connection = connectTo({ configFile, socketsMax: SOCKETS_MAX, requests });
  const hurry = new AbortController();
  return {
    write: async (events, signal) => {
      const body = eventList(events, version);
      for (let tries = 1; ; tries += 1) {
        try {
          await post(connection, body, signal);
          return;
        } catch (error) {
          // Retry every failure, even a refusal, because the events would be lost.
          if (signal.aborted || (tries >= TRIES_MAX && !hurry.signal.aborted)) throw error;
        }
        await wait(backoffMs(initialBackoffMs, tries), { hurry: hurry.signal, signal });
      }
    },
    hurry: () => {
      hurry.abort();
    },
    close: async () => {
      connection.close();
      return Promise.resolve();
    },
  };
}

/** Waits for the backoff. During shutdown the backoff is short, to use the remaining time for many tries. */
async function wait(
  ms: number,
  { hurry, signal }: { readonly hurry: AbortSignal; readonly signal: AbortSignal },
): Promise<void> {
  if (hurry.aborted) {
    await sleep(Math.min(ms, HURRIED_WAIT_MS), signal);
    return;
  }
  const either = linkedAbort(hurry, signal);
  await pause(ms, either.signal);
  either.unlink();
}

async function post(connection: Connection, body: Buffer, signal: AbortSignal): Promise<void> {
  const answer = await connection.send({ method: 'POST', path: '', body, signal });
  if (!isSuccess(answer)) throw new Error(`the audit webhook answered ${String(answer.code)}`);
}

function eventList(events: readonly AuditEvent[], version: AuditVersion): Buffer {
  const items = events.map((event) => `{${event.text(version)}`).join(',');
  const head = `{"kind":"EventList","apiVersion":"${GROUP.audit}/${version}","metadata":{},"items":[`;
  return Buffer.from(`${head}${items}]}\n`);
}
