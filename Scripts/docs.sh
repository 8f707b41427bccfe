#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs.sh [BASE]   builds the documentation of all libraries as a static site in .build/docs/site. Fails at a
#                  broken link, at a public symbol without a summary, at a page or symbol that no landing page
#                  leads to. BASE is the path of the site on its server, such as /swift-forwarding.
set -eu
cd "$(dirname "$0")/.."
base=${1:-}
folder=.build/docs
docc="$(dirname "$(readlink -f "$(command -v swift)")")/docc"
[ -x "$docc" ] || { echo "docs: the toolchain has no docc" >&2; exit 1; }

# The symbols, as the compiler describes them while it builds the libraries.
graphs=$PWD/$folder/graphs
mkdir -p "$graphs"
build() {
  # Otherwise the order of the traits is random, and another order compiles everything once more.
  # shellcheck disable=SC2046
  SWIFT_DETERMINISTIC_HASHING=1 swift build --traits Macros,NATS --scratch-path $folder $(cat Scripts/strict.flags) \
    -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$graphs" "$@"
}
for library in InvocationText ForwardingUndo ForwardingTesting ForwardingJournal ForwardingNATS; do
  build --target $library
done
build --product DocumentationSite
site=$folder/debug/DocumentationSite

rm -rf $folder/catalogs $folder/archives $folder/site
mkdir -p $folder/archives
$site catalogs "$graphs" $folder/catalogs ${base:+"$base"} >$folder/libraries

# Bottom to top, because a library links to those below it.
archives=()
dependencies=()
while read -r library; do
  archive=$folder/archives/$library.doccarchive
  $docc convert "$folder/catalogs/$library.docc" --additional-symbol-graph-dir "$folder/catalogs/$library.graph" \
    --output-path "$archive" --fallback-display-name "$library" --fallback-bundle-identifier "$library" \
    --fallback-default-module-kind Library --disable-parameters-and-returns-validation \
    --enable-experimental-external-link-support --warnings-as-errors \
    ${dependencies[@]+"${dependencies[@]}"} ${base:+--hosting-base-path "$base"}
  archives+=("$archive")
  dependencies+=(--dependency "$archive")
done <$folder/libraries
# In the navigation the library that most programs need stands first.
first=$folder/archives/Forwarding.doccarchive
others=()
for archive in "${archives[@]}"; do [ "$archive" = "$first" ] || others+=("$archive"); done
$docc merge "$first" "${others[@]}" --synthesized-landing-page-name swift-forwarding \
  --synthesized-landing-page-kind Package --synthesized-landing-page-topics-style list --output-path $folder/site
$site pages $folder/site
# Lines of code of 100 characters fit into a window of 1,400 pixels, and no icon is behind the first sentence.
cat >>"$(echo $folder/site/css/index.*.css)" <<END
.doc-topic .code-listing pre>code{font-size:13px!important}
.documentation-hero .background-icon{display:none!important}
END
# The root of the site leads to the page of Documentation/README.md.
page=$base/documentation/forwarding/page-what-you-want-to-do/
[ -d "$folder/site/${page#"$base"/}" ] || { echo "docs: there is no $page" >&2; exit 1; }
cat >$folder/site/index.html <<END
<!doctype html><meta charset="utf-8"><title>swift-forwarding</title>
<meta http-equiv="refresh" content="0; url=$page">
<a href="$page">What you want to do with swift-forwarding</a>
END
echo "docs: python3 -m http.server --directory $folder/site   shows them at http://localhost:8000"
