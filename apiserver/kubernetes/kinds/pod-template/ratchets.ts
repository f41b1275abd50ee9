import type { PodSpec } from '../../../../shared/api/types/core-v1';
import { objectAt } from '../../../../shared/object/json';
import type { ReadonlyJson } from '../../../../shared/object/json';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { laterRuleOf } from './later-rules';
import { POD_PLACES } from './pod-places';
import { collectPodSpecErrors } from './pod-spec';

/**
 * The strategy that tolerates errors of a later rule in updates of pods and templates that broke the rule before. Source:
 * GetValidationOptionsFromPodSpecAndMeta, v1.36.
 */
export function withLaterRules(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const place = POD_PLACES.get(resource);
  if (place === undefined) return strategy;
  const path = [...place, 'spec'];
  return {
    ...strategy,
    ratchets: (faults, previous, info) => {
      const kept = strategy?.ratchets?.(faults, previous, info) ?? faults;
      const left = isOn(info.settings, 'StrictIPCIDRValidation')
        ? kept
        : kept.filter((fault) => laterRuleOf(fault) !== 'spelling of addresses');
      if (previous === undefined || !left.some((fault) => laterRuleOf(fault) !== undefined)) return left;
      const spec = path.reduce<ReadonlyJson>((at, name) => objectAt(at, name) ?? {}, previous);
      const broken = new Set(
        collectPodSpecErrors(spec as unknown as PodSpec, path.join('.'), '', info.settings).map((fault) =>
          laterRuleOf(fault),
        ),
      );
      return left.filter((fault) => {
        const rule = laterRuleOf(fault);
        return rule === undefined || !broken.has(rule);
      });
    },
  };
}
