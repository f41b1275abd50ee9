import { AUDIT_ANNOTATION } from '../../../shared/names';
import type { AuditVersion } from './event';
import { AuditEvent } from './event';
import type { LostEventCounter } from './lost-event-counter';
import type { Backend } from './sink';

export interface TruncationOptions {
  /** A longer event loses its objects; if it is still too long, it is dropped. */
  readonly eventBytesMax: number;
  readonly batchBytesMax: number;
}

/** Wraps a backend and truncates events that are too large. */
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

/** Returns the event without its objects and with an annotation. */
function truncated({ fields }: AuditEvent): AuditEvent {
  return new AuditEvent({
    ...fields,
    requestObject: undefined,
    responseObject: undefined,
    annotations: { ...fields.annotations, [AUDIT_ANNOTATION.truncated]: 'true' },
  });
}
