import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { SERVICES } from '../../cluster/resources';

/** Refuses new external IPs of Services (CVE-2020-8554); existing ones may stay. */
export const denyServiceExternalIps = pluginOf(writesOf(SERVICES, ['CREATE', 'UPDATE']), {
  validate(attributes) {
    const before = new Set(attributes.oldObject?.spec.externalIPs);
    const addsOne = (attributes.object?.spec.externalIPs ?? []).some((ip) => !before.has(ip));
    if (addsOne) throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
});
