import { unusableEntries } from '../../../framework/authn/jwt/index.ts'
import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { tokenExpressions } from '../../../openapi/expressions/tokenexpressions.ts'
import { concerns } from './refusal.ts'

const configurations = 'workspaceauthenticationconfigurations.tenancy.kcp.io'

interface Configuration extends KubeObject {
  readonly spec?: { readonly jwt?: unknown }
}

/**
 * Warns whoever writes a configuration of an issuer that cannot be used, for what kcp takes is taken here, too (chapter
 * 30, section 1.6): without that nobody would know why nobody gets in.
 */
export const authenticationConfigurationWarnings: AdmissionPlugin = {
  name: 'tenancy.kcp.io/WorkspaceAuthenticationConfiguration',
  handles: { resources: [configurations] },
  validate(ctx, request) {
    if (!concerns(request, configurations, ['CREATE', 'UPDATE'])) return
    const { spec } = request.object as Configuration
    for (const why of unusableEntries(spec?.jwt, tokenExpressions))
      ctx.record.warn(`this issuer will not be used: ${why}`)
  },
}
