import type { FieldError } from '../../../../shared/errors/field-error';

/**
 * Rules of pod specs that came after objects which break them, or hold while a feature gate is off: an object that broke one already may keep
 * on doing so.
 */
export type LaterRule =
  | 'affinity selectors'
  | 'host network in a user namespace'
  | 'host sysctls'
  | 'names of variables'
  | 'node affinity values'
  | 'projected token paths'
  | 'resize policy of init containers'
  | 'search paths'
  | 'SELinux policies'
  | 'spelling of addresses'
  | 'spread keys'
  | 'spread selectors'
  | 'volume devices in a user namespace'
  | 'whole huge pages';

const rules = new WeakMap<FieldError, LaterRule>();

/** Marks the errors as those of a later rule, and returns them. */
export function byLaterRule(rule: LaterRule, errors: readonly FieldError[]): readonly FieldError[] {
  for (const error of errors) rules.set(error, rule);
  return errors;
}

/** The later rule that the error is of, if any. */
export function laterRuleOf(error: FieldError): LaterRule | undefined {
  return rules.get(error);
}
