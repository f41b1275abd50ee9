import { compilePattern } from '../../../shared/structural/patterns';
import type { BrowserRules } from '../../engine/server/browser-rules';
import type { ServerFlags } from './complete-options';

export type ParsedBrowserRules =
  | { readonly ok: true; readonly rules: BrowserRules | undefined }
  | { readonly ok: false; readonly errors: readonly string[] };

/** Parses `--cors-allowed-origins` and `--strict-transport-security-directives`; undefined if both are empty. */
export function parseBrowserRules({
  corsAllowedOrigins,
  strictTransportSecurityDirectives: directives,
}: Pick<ServerFlags, 'corsAllowedOrigins' | 'strictTransportSecurityDirectives'>): ParsedBrowserRules {
  const patterns = corsAllowedOrigins.map(compilePattern);
  const errors = [
    ...patterns.flatMap((pattern) =>
      'problem' in pattern ? [`--cors-allowed-origins: ${pattern.problem}`] : [],
    ),
    ...directives.flatMap(directiveProblem),
  ];
  if (errors.length > 0) return { ok: false, errors };
  if (patterns.length === 0 && directives.length === 0) return { ok: true, rules: undefined };
  const origins = patterns.flatMap((pattern) => ('problem' in pattern ? [] : [pattern]));
  return { ok: true, rules: { origins, strictTransport: directives.join('; ') } };
}

function directiveProblem(directive: string): readonly string[] {
  if (directive.trim() === '') return ['--strict-transport-security-directives has an empty value'];
  if (directive === 'includeSubDomains' || directive === 'preload') return [];
  if (/^max-age=[^=]*$/u.test(directive)) return [];
  return [
    `--strict-transport-security-directives: "${directive}" is none of max-age=<seconds>, includeSubDomains and preload`,
  ];
}
