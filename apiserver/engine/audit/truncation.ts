import { AUDIT_ANNOTATION } from '../../../shared/names';
import type { AuditVersion } from './event';
import { AuditEvent } from './event';
import type { LostEventCounter } from './lost-event-counter';
import type { Backend } from './sink';

export interface TruncationOptions {
  /** An event that is longer goes without its objects; one that is still too long is dropped. */
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

/** Keeps events within a size before the backend gets them. */
export function truncating(
  backend: Backend,
  {
    eventBytesMax,
    version,
    loss,
  }: TruncationOptions & { readonly version: AuditVersion; readonly loss: LostEventCounter },
): Backend {
  return {
    process: (event, signal) => {
      const fitting = fittingEvent(event, version, eventBytesMax);
      if (fitting !== undefined) return backend.process(fitting, signal);
      loss.add('truncate', 1, new Error('the audit event is too large even without its objects'));
      return true;
    },
    close: async (signal) => backend.close(signal),
  };
}

function fittingEvent(event: AuditEvent, version: AuditVersion, bytesMax: number): AuditEvent | undefined {
  if (event.bytes(version) <= bytesMax) return event;
  if (event.fields.level === 'Metadata') return undefined;
  const shorter = truncated(event);
  return shorter.bytes(version) <= bytesMax ? shorter : undefined;
}

/** The event without its objects, and with a note of that. */
function truncated({ fields }: AuditEvent): AuditEvent {
  return new AuditEvent({
    ...fields,
    requestObject: undefined,
    responseObject: undefined,
    annotations: { ...fields.annotations, [AUDIT_ANNOTATION.truncated]: 'true' },
  });
}
