import type { AbacPolicy } from '../../kubernetes/auth/abac/policy-file';
import { readPolicyFile } from '../../kubernetes/auth/abac/policy-file';
import type { ServerFlags } from './complete-options';

export type PolicyOptions =
  | {
      readonly ok: true;
      /** Undefined without the mode ABAC. */
      readonly policies: readonly AbacPolicy[] | undefined;
      /** Warnings to log at startup. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Reads the policies of the mode ABAC, if it is enabled. */
export function readAuthorizationPolicies({
  authorizationMode,
  authorizationPolicyFile: file,
}: ServerFlags): PolicyOptions {
  const isOn = authorizationMode.includes('ABAC');
  if (isOn && file === '') {
    return { ok: false, errors: ['--authorization-mode=ABAC needs --authorization-policy-file'] };
  }
  if (!isOn) {
    if (file === '') return { ok: true, policies: undefined, warnings: [] };
    return { ok: false, errors: ['--authorization-policy-file needs --authorization-mode=ABAC'] };
  }
  const parsed = readPolicyFile(file);
  if (!parsed.ok) return { ok: false, errors: parsed.problems };
  const { policies, unversioned } = parsed;
  const old = `${String(unversioned)} lines of --authorization-policy-file have no apiVersion: what they do not say is anything`;
  return { ok: true, policies, warnings: unversioned === 0 ? [] : [old] };
}
