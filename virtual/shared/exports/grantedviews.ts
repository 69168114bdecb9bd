import type { APIExport } from '../../../kcp/index.ts'
import { printPublished, readingVerbs, viewsOffered } from '../../../kcp/index.ts'
import { type ClaimedWrite, isAllowedItself, refusedGrant } from './given.ts'

/** A provider with a claim on APIExports offers the content of a View of the consumer only where its user can read it: no claim gives it. */
export async function checkOfferedViews(write: ClaimedWrite): Promise<void> {
  const { object, old } = write.request
  for (const objects of viewsOffered(object as APIExport, old as APIExport | undefined)) {
    const { field, ...content } = objects
    for (const verb of readingVerbs)
      if (!(await isAllowedItself(write, { ...content, verb })))
        throw refusedGrant(
          write,
          `${field}: a provider can offer only what it can read: ${verb} on ${printPublished(objects)}`,
        )
  }
}
