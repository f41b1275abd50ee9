import type { EventFields } from '../event';
import { AuditEvent } from '../event';

/** An event as a request would leave it. */
export function newEvent(fields: Partial<EventFields> = {}): AuditEvent {
  const request = {
    requestURI: '/api/v1/pods',
    verb: 'list',
    user: { username: 'alice', groups: ['a', 'b'] },
  };
  return new AuditEvent({
    level: 'Metadata',
    auditId: 'id-1',
    stage: 'ResponseComplete',
    request,
    requestJson: JSON.stringify(request),
    objectRef: undefined,
    responseStatus: { code: 200 },
    requestObject: undefined,
    responseObject: undefined,
    receivedAtMs: Date.UTC(2021, 4, 4, 10, 20, 30, 123),
    stageAtMs: Date.UTC(2021, 4, 4, 10, 20, 30, 124) + 0.456,
    annotations: undefined,
    ...fields,
  });
}
