import { strings } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { SERVICES } from './resources';
import { specOf } from './with-spec';

/** A Service may not take over traffic to an address of its choice; those that it has already may stay. */
export const denyServiceExternalIps: AdmissionPlugin = {
  concerns: writesOf(SERVICES, ['CREATE', 'UPDATE']),
  validate(attributes) {
    const before = new Set(strings(specOf(attributes.oldObject)['externalIPs']));
    const addsOne = strings(specOf(attributes.object)['externalIPs']).some((ip) => !before.has(ip));
    if (addsOne) throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
};
