import { excessOf, unusableEntries } from '../../../framework/authn/jwt/index.ts'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { tokenExpressions } from '../../../openapi/expressions/tokenexpressions.ts'
import { concerns, refused } from '../refusal.ts'

const configurations = 'workspaceauthenticationconfigurations.tenancy.kcp.io'

interface Configuration extends KubeObject {
  readonly spec?: { readonly jwt?: unknown }
}

/**
 * Refuses a configuration that is too large. Warns about issuers that cannot be used: like kcp, the server accepts the
 * configuration and ignores them.
 */
export const authenticationConfigurations: AdmissionPlugin = {
  name: 'tenancy.kcp.io/WorkspaceAuthenticationConfiguration',
  handles: { resources: [configurations] },
  async validate(ctx, request) {
    if (!concerns(request, configurations, ['CREATE', 'UPDATE'])) return
    const { spec } = request.object as Configuration
    const excess = excessOf(spec?.jwt)
    if (excess !== undefined) throw refused(request, excess)
    for (const why of await unusableEntries(spec?.jwt, tokenExpressions))
      ctx.record.warn(`this issuer will not be used: ${why}`)
  },
}
