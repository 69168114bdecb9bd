/** The annotation that requests an explanation; the response has it as JSON in the second one. */
export const explainAnnotation = 'oriel/explain'
export const explanationAnnotation = 'oriel/explanation'
/** The path of a view up to its cluster: the review is then about a request to the view, and has an explanation. */
export const viewAnnotation = 'oriel/view'
