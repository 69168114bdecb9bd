/** Verbs of requests for resources, and those of Kubernetes and kcp that only rules have. */
const resourceVerbs: ReadonlySet<string> = new Set([
  ...['*', 'get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['approve', 'attest', 'bind', 'escalate', 'sign', 'use', 'initialize', 'terminate'],
])

const pathVerbs: ReadonlySet<string> = new Set([
  ...['*', 'get', 'put', 'post', 'head', 'options', 'delete', 'patch', 'access'],
])

/** Constrained impersonation has a verb for each kind of identity (KEP-5284). */
const isImpersonation = (verb: string): boolean => /^impersonate(-on)?(:|$)/.test(verb)

const verbWarning = (verb: string): string => `verb '${verb}' is not a known verb`

/** The warnings of `kubectl auth can-i` about a path (kubectl `pkg/cmd/auth/cani.go`). */
export const pathWarnings = (verb: string): readonly string[] =>
  pathVerbs.has(verb) ? [] : [verbWarning(verb)]

/** The same about a resource. `isMissing`: the server has told all of its resources, and this one is not among them. */
export function resourceWarnings(
  verb: string,
  {
    group,
    resource,
    isMissing,
  }: { readonly group: string; readonly resource: string; readonly isMissing: boolean },
): readonly string[] {
  const isOfRules = resource === '*' || resource === 'signers' || isImpersonation(verb)
  const within = group === '' ? '' : ` in group '${group}'`
  return [
    ...(isMissing && !isOfRules ? [`the server doesn't have a resource type '${resource}'${within}`] : []),
    ...(resourceVerbs.has(verb) || isImpersonation(verb) ? [] : [verbWarning(verb)]),
  ]
}
