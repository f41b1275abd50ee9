import type { GroupVersionResource } from '../object/object';
import { resourceNameOf } from '../object/object';
import { goQuote } from './go-quote';

/**
 * Reasons of meta/v1 Status with their HTTP codes (metav1.StatusReason of Kubernetes v1.21). The table cannot
 * be inverted: several reasons share a code.
 */
const STATUS_CODE = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;
export type StatusReason = keyof typeof STATUS_CODE;

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The `Status` object of meta/v1 on the wire. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusErrorOptions {
  readonly details?: StatusDetails;
  /** Overrides the code of the reason. */
  readonly code?: number;
  /** A new continue token for a client whose list expired. */
  readonly continue?: string;
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The underlying error, for logs only. */
  readonly cause?: unknown;
}

/** The only error that is sent to the client as it is. The error handler answers any other error with 500. */
export class StatusError extends Error {
  readonly status: Status;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(reason: StatusReason | '', message: string, options: StatusErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'StatusError';
    this.headers = options.headers;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: options.continue === undefined ? {} : { continue: options.continue },
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(options.details === undefined ? {} : { details: options.details }),
      code: options.code ?? (reason === '' ? 500 : STATUS_CODE[reason]),
    };
  }
}

/** Rebuilds the error of a Status from another thread or process. `cause` is for logs only. */
export function fromStatus(status: Status, cause?: unknown): StatusError {
  const { reason = '', message = '', details, code, metadata } = status;
  return new StatusError(reason as StatusReason | '', message, {
    code,
    ...(details === undefined ? {} : { details }),
    ...(metadata.continue === undefined ? {} : { continue: metadata.continue }),
    cause,
  });
}

type Resource = Pick<GroupVersionResource, 'group' | 'resource'>;

function detailsOf(resource: Resource, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.resource,
  };
}

export function notFound(resource: Resource, name: string): StatusError {
  return new StatusError('NotFound', `${resourceNameOf(resource)} ${goQuote(name)} not found`, {
    details: detailsOf(resource, name),
  });
}

/** `why` precedes the message: `object is being deleted: `. */
export function alreadyExists(resource: Resource, name: string, why = ''): StatusError {
  return new StatusError(
    'AlreadyExists',
    `${why}${resourceNameOf(resource)} ${goQuote(name)} already exists`,
    {
      details: detailsOf(resource, name),
    },
  );
}

export function conflict(resource: Resource, name: string, why: string): StatusError {
  return new StatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${resourceNameOf(resource)} ${goQuote(name)}: ${why}`,
    {
      details: detailsOf(resource, name),
    },
  );
}

export function forbidden(
  resource: Resource,
  name: string,
  why: string,
  options: Pick<StatusErrorOptions, 'headers'> = {},
): StatusError {
  const named = name === '' ? '' : ` ${goQuote(name)}`;
  return new StatusError('Forbidden', `${resourceNameOf(resource)}${named} is forbidden: ${why}`, {
    ...options,
    details: detailsOf(resource, name),
  });
}

export function badRequest(message: string, cause?: unknown): StatusError {
  return new StatusError('BadRequest', message, { cause });
}

export function methodNotSupported(resource: Resource, action: string): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    `${action} is not supported on resources of kind ${goQuote(resourceNameOf(resource))}`,
    { details: detailsOf(resource, '') },
  );
}

/**
 * Returns the 503 status for a store or server that is temporarily unavailable. `retryAfterSeconds` also
 * becomes the Retry-After header.
 */
export function serviceUnavailable(message: string, retryAfterSeconds: number, cause?: unknown): StatusError {
  return new StatusError('ServiceUnavailable', message, { details: { retryAfterSeconds }, cause });
}

/** Returns the 504 Timeout status. Its message begins as upstream's does. */
export function timeout(message: string, retryAfterSeconds: number, cause?: unknown): StatusError {
  return new StatusError('Timeout', `Timeout: ${message}`, { details: { retryAfterSeconds }, cause });
}

export function internalError(cause: unknown): StatusError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StatusError('InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
    cause,
  });
}

const MS_PER_SECOND = 1_000;

/** Returns the retry delay that the server requests, in milliseconds, or undefined. */
export function getRetryAfterMs(error: unknown): number | undefined {
  const seconds = error instanceof StatusError ? error.status.details?.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * MS_PER_SECOND;
}
