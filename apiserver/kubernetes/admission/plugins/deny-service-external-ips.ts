import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { SERVICES } from '../../cluster/resources';

/** A Service may not take over traffic to an address of its choice; those that it has already may stay. */
export const denyServiceExternalIps = pluginOf(writesOf(SERVICES, ['CREATE', 'UPDATE']), {
  validate(attributes) {
    const before = new Set(attributes.oldObject?.spec.externalIPs);
    const addsOne = (attributes.object?.spec.externalIPs ?? []).some((ip) => !before.has(ip));
    if (addsOne) throw refusal(attributes, 'Use of external IPs is denied by admission control');
  },
});
