import type { Capabilities } from '../../../../../shared/api/types/core-v1';
import type { PodSecurityPolicySpec } from '../../../../../shared/api/types/policy-v1beta1';
import { invalid } from '../../../../../shared/errors/field-error';
import type { ContainerStrategy } from '../strategy';
import { NOTHING } from '../strategy';

const ALL = '*';

/** Default, forbidden and allowed capabilities of containers. */
export function capabilitiesStrategy({
  defaultAddCapabilities: added = [],
  requiredDropCapabilities: dropped = [],
  allowedCapabilities: allowed = [],
}: PodSecurityPolicySpec): ContainerStrategy {
  const addable = new Set([...added, ...allowed]);
  return {
    fill({ capabilities }) {
      const filled = filledCapabilities(capabilities, added, dropped);
      return filled === undefined ? NOTHING : { capabilities: filled };
    },
    problems({ effective: { capabilities }, path }) {
      const at = `${path}.securityContext.capabilities`;
      if (capabilities === undefined) {
        if (added.length === 0 && dropped.length === 0) return [];
        return [invalid(at, undefined, 'required capabilities are not set on the securityContext')];
      }
      if (allowed.includes(ALL)) return [];
      const { add = [], drop = [] } = capabilities;
      return [
        ...add
          .filter((each) => !addable.has(each))
          .map((each) => invalid(`${at}.add`, each, 'capability may not be added')),
        ...dropped
          .filter((each) => !drop.includes(each))
          .map((each) => invalid(`${at}.drop`, drop, `${each} is required to be dropped but was not found`)),
      ];
    },
  };
}

/** Returns them with the policy's, sorted by name; undefined without a change. */
function filledCapabilities(
  { add = [], drop = [] }: Capabilities = {},
  added: readonly string[],
  dropped: readonly string[],
): Capabilities | undefined {
  const ownAdd = new Set(add);
  const ownDrop = new Set(drop);
  const allAdd = new Set([...added.filter((each) => !ownDrop.has(each)), ...add]);
  const allDrop = new Set([...dropped, ...drop]);
  if (allAdd.size === ownAdd.size && allDrop.size === ownDrop.size) return undefined;
  return {
    ...(allAdd.size === 0 ? {} : { add: [...allAdd].sort() }),
    ...(allDrop.size === 0 ? {} : { drop: [...allDrop].sort() }),
  };
}
