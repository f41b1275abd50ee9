import { ClientRequests } from '../../../shared/metrics/rest-client';

/** The requests of this process to webhooks of every kind: one for the process, which has one page of metrics. */
export const OWN_REQUESTS = new ClientRequests();
