/** How often a header stands in the request; of several Node keeps the first, without a word. */
export function countOf(ctx, lowerCaseName) {
    const { rawHeaders } = ctx.req;
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
        const name = rawHeaders[at];
        if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName)
            count++;
    }
    return count;
}
//# sourceMappingURL=headers.js.map