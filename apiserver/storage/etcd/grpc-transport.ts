import {
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  Client,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  type VerifyOptions,
} from '@grpc/grpc-js';
import {
  type Method,
  type ResponseStream,
  STATUS,
  type StreamOptions,
  type Transport,
  TransportError,
  type UnaryOptions,
} from './transport';

/** PEM texts; `cert` and `key` are this client's own and go together. */
export interface TlsMaterial {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

const KEEPALIVE_TIME_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
const FLOW_CONTROL_WINDOW_BYTES = 4 * 1024 * 1024;
const BACKOFF_FIRST_MS = 100;
const BACKOFF_MAX_MS = 1_000;
/** What grpc-js says when a call found no connection to leave by. */
const NEVER_SENT = 'No connection established';

const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.keepalive_time_ms': KEEPALIVE_TIME_MS,
  'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
  // etcd ends connections that ping without a call under way.
  'grpc.keepalive_permit_without_calls': 0,
  'grpc.initial_reconnect_backoff_ms': BACKOFF_FIRST_MS,
  'grpc.max_reconnect_backoff_ms': BACKOFF_MAX_MS,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  // Without its own pool a second channel would share the first one's connection, and its flow control.
  'grpc.use_local_subchannel_pool': 1,
  'grpc-node.flow_control_window': FLOW_CONTROL_WINDOW_BYTES,
};

/** Makes transports over grpc-js; the TLS material is parsed once. */
export function grpcTransportFactory(tls: TlsMaterial): (endpoint: string) => Transport {
  const verify: VerifyOptions = {};
  const secure = credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null, verify);
  const plain = credentials.createInsecure();
  return (endpoint) => new GrpcTransport(endpoint, endpoint.startsWith('https:') ? secure : plain);
}

class GrpcTransport implements Transport {
  readonly endpoint: string;
  private readonly client: Client;

  constructor(endpoint: string, channelCredentials: ChannelCredentials) {
    this.endpoint = endpoint;
    this.client = new Client(hostAndPort(endpoint), channelCredentials, CHANNEL_OPTIONS);
  }

  ready(timeoutMs: number, signal: AbortSignal): Promise<void> | undefined {
    if (this.client.getChannel().getConnectivityState(true) === connectivityState.READY) return undefined;
    return this.connect(Date.now() + timeoutMs, signal);
  }

  private async connect(deadlineMs: number, signal: AbortSignal): Promise<void> {
    const channel = this.client.getChannel();
    for (;;) {
      if (signal.aborted) throw this.error(STATUS.cancelled, 'The caller gave up.', false);
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return;
      if (state === connectivityState.TRANSIENT_FAILURE) throw await this.whyNotConnected(deadlineMs, signal);
      if (state === connectivityState.SHUTDOWN) {
        throw this.error(STATUS.unavailable, 'The client is closed.', false);
      }
      const changed = await this.stateChange(state, deadlineMs, signal);
      if (!changed) throw this.error(STATUS.unavailable, 'No connection was made in time.', false);
    }
  }

  /** False when the deadline came first. Also resolves when the signal aborts. */
  private async stateChange(
    state: connectivityState,
    deadlineMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const onAbort = (): void => {
        resolve(true);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.client.getChannel().watchConnectivityState(state, deadlineMs, (error) => {
        signal.removeEventListener('abort', onAbort);
        resolve(error === undefined);
      });
    });
  }

  /** A channel keeps the reason of its failure to itself; a call made now fails at once and tells it. */
  private async whyNotConnected(deadlineMs: number, signal: AbortSignal): Promise<TransportError> {
    const probe: Method<null, null> = {
      path: '/etcdserverpb.Maintenance/Status',
      encode: () => Buffer.alloc(0),
      decode: () => null,
    };
    const timeoutMs = Math.max(1, deadlineMs - Date.now());
    try {
      await this.unary(probe, null, { timeoutMs, signal });
    } catch (error) {
      if (error instanceof TransportError) {
        return this.error(STATUS.unavailable, error.details, false);
      }
      throw error;
    }
    return this.error(STATUS.unavailable, 'The connection failed and came back.', false);
  }

  async unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: UnaryOptions,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const call = this.client.makeUnaryRequest(
        method.path,
        method.encode,
        method.decode,
        request,
        metadata(options.token),
        { deadline: Date.now() + options.timeoutMs },
        (error, response) => {
          options.signal.removeEventListener('abort', onAbort);
          if (error !== null) reject(this.fromService(error));
          else if (response === undefined) reject(this.error(STATUS.internal, 'The answer is empty.', true));
          else resolve(response);
        },
      );
      const onAbort = (): void => {
        call.cancel();
      };
      options.signal.addEventListener('abort', onAbort, { once: true });
      if (options.signal.aborted) call.cancel();
    });
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: StreamOptions,
  ): ResponseStream<Response> {
    const call = this.client.makeBidiStreamRequest(
      method.path,
      method.encode,
      method.decode,
      metadata(options.token),
    );
    // The reader hears of an error by its iteration; one that comes when nobody reads any more must not end the process.
    call.on('error', () => undefined);
    call.write(request);
    return {
      cancel: () => {
        call.cancel();
      },
      [Symbol.asyncIterator]: () => this.messages(call),
    };
  }

  private async *messages<Request, Response>(
    call: ClientDuplexStream<Request, Response>,
  ): AsyncGenerator<readonly Response[]> {
    const ending: { error?: ServiceError; isOver: boolean } = { isOver: false };
    let wake = nobodyWaits;
    call.on('readable', () => {
      wake();
    });
    call.on('end', () => {
      ending.isOver = true;
      wake();
    });
    call.on('error', (error: ServiceError) => {
      ending.error = error;
      wake();
    });
    try {
      for (;;) {
        const batch = takeAll(call);
        if (batch.length > 0) {
          yield batch;
          continue;
        }
        // grpc-js ends the stream before it tells of the error, in the same turn of the event loop.
        if (ending.error !== undefined) throw this.fromService(ending.error);
        if (ending.isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      call.cancel();
    }
  }

  close(): void {
    this.client.close();
  }

  private fromService(error: Partial<ServiceError>): TransportError {
    const details = error.details ?? error.message ?? 'The call failed.';
    return this.error(error.code ?? STATUS.unknown, details, !details.includes(NEVER_SENT));
  }

  private error(code: number, details: string, sent: boolean): TransportError {
    return new TransportError({ code, details, endpoint: this.endpoint, sent });
  }
}

function takeAll<Request, Response>(call: ClientDuplexStream<Request, Response>): Response[] {
  const batch: Response[] = [];
  for (;;) {
    const message = call.read() as Response | null;
    if (message === null) return batch;
    batch.push(message);
  }
}

function nobodyWaits(): void {
  // The next reading takes what has come.
}

function hostAndPort(endpoint: string): string {
  const { hostname, port, protocol } = new URL(endpoint);
  if (port !== '') return `${hostname}:${port}`;
  return `${hostname}:${protocol === 'https:' ? '443' : '80'}`;
}

/** `hasleader` makes a member that lost its majority refuse at once instead of keeping the call until it times out. */
function metadata(token: string | undefined): Metadata {
  const made = new Metadata();
  made.set('hasleader', 'true');
  if (token !== undefined) made.set('token', token);
  return made;
}
