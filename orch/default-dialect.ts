/**
 * Captures and test suites have the names of Kubernetes. This module is imported before any other, because `shared/names.ts` reads the
 * dialect when it is loaded; `--dialect=orch` has precedence.
 */
export const DEFAULT_DIALECT = (process.env['ORCH_DIALECT'] ??= 'kubernetes');
