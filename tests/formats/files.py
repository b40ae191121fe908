# ruff: noqa: E501  records are long lines of markup
"""One file of each format of later days, with a record for each title."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from html import escape

AUTHORS = ("Author, Ada", "Bee, Benjamin C.")
VENUE = "Journal of Weather"
ABSTRACT = "BACKGROUND: It falls. METHODS: We look up, often. RESULTS: We get wet by 50 %."
_PARTS = [part.split(": ", 1) for part in ("BACKGROUND: It falls.", "METHODS: We look up, often.")]
_PARTS.append(["RESULTS", "We get wet by 50 %."])


def doi(number: int) -> str:
    return f"10.1000/w.{number}"


def _join(titles: Sequence[str], record: str) -> str:
    """A record for each title; {t} is the title, {n} its number."""
    return "".join(
        record.replace("{t}", title).replace("{n}", str(number)) for number, title in enumerate(titles, 1)
    )


def _xml(titles: Sequence[str], record: str) -> str:
    return _join([escape(title, quote=False) for title in titles], record)


def _list(titles: Sequence[str], record: dict[str, object]) -> list[object]:
    text = json.dumps(record, ensure_ascii=False)
    return [
        json.loads(text.replace("{t}", json.dumps(title)[1:-1]).replace("{n}", str(number)))
        for number, title in enumerate(titles, 1)
    ]


def jats(titles: Sequence[str]) -> str:
    parts = "".join(f"<sec><title>{head}</title><p>{body}</p></sec>" for head, body in _PARTS)
    return (
        '<?xml version="1.0"?><!DOCTYPE pmc-articleset PUBLIC "-//NLM" "none.dtd"><pmc-articleset>\n'
        + _xml(
            titles,
            '<article article-type="research-article" xml:lang="en" xmlns:xlink="http://www.w3.org/1999/xlink">'
            f"<front><journal-meta><journal-title-group><journal-title>{VENUE}</journal-title>"
            '</journal-title-group><issn pub-type="epub">1234-5678</issn><publisher><publisher-name>Rain Press'
            "</publisher-name></publisher></journal-meta>"
            '<article-meta><article-id pub-id-type="pmid">{n}</article-id>'
            '<article-id pub-id-type="doi">10.1000/w.{n}</article-id>'
            '<title-group><article-title>{t}<xref ref-type="fn" rid="f"/><fn id="f"><p>A note</p></fn>'
            "</article-title></title-group><contrib-group>"
            '<contrib contrib-type="author"><name><surname>Author</surname><given-names>Ada</given-names></name>'
            '</contrib><contrib contrib-type="author"><name><surname>Bee</surname><given-names>Benjamin C.'
            '</given-names></name></contrib></contrib-group><pub-date pub-type="epub"><day>3</day><month>5</month>'
            "<year>2020</year></pub-date><volume>7</volume><issue>2</issue><fpage>10</fpage><lpage>19</lpage>"
            '<permissions><license xlink:href="https://example.org/by"/></permissions>'
            '<abstract abstract-type="teaser"><p>Short.</p></abstract>'
            f"<abstract>{parts}</abstract><kwd-group><kwd>rain</kwd><kwd>snow</kwd></kwd-group></article-meta>"
            "</front><body><p>Long.</p></body></article>\n",
        )
        + "</pmc-articleset>"
    )


def tei(titles: Sequence[str]) -> str:
    parts = "".join(
        f'<div xmlns="http://www.tei-c.org/ns/1.0"><head>{head}</head><p><s>{body}</s></p></div>'
        for head, body in _PARTS
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">\n'
        + _xml(
            titles,
            '<TEI><teiHeader xml:lang="en"><fileDesc><titleStmt><title level="a" type="main">{t}</title></titleStmt>'
            "<publicationStmt><publisher>Rain Press</publisher></publicationStmt><sourceDesc><biblStruct><analytic>"
            '<author><persName><forename type="first">Ada</forename><surname>Author</surname></persName></author>'
            '<author><persName><forename type="first">Benjamin</forename><forename type="middle">C.</forename>'
            '<surname>Bee</surname></persName></author></analytic><monogr><title level="j">'
            f"{VENUE}</title>"
            '<imprint><biblScope unit="volume">7</biblScope><biblScope unit="issue">2</biblScope>'
            '<biblScope unit="page" from="10" to="19"/><date type="published" when="2020-05-03"/></imprint></monogr>'
            '<idno type="DOI">10.1000/w.{n}</idno></biblStruct></sourceDesc></fileDesc><profileDesc><textClass>'
            "<keywords><term>rain</term><term>snow</term></keywords></textClass><abstract>"
            f"{parts}</abstract></profileDesc></teiHeader><text/></TEI>\n",
        )
        + "</teiCorpus>"
    )


def dblp(titles: Sequence[str]) -> str:
    return (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE dblp SYSTEM "dblp.dtd">\n<dblp>\n'
        + _xml(
            titles,
            '<article mdate="2020-01-01" key="journals/w/A{n}"><author>Ada Author</author>'
            "<author>Benjamin C. Bee 0002</author><title>{t}.</title><pages>10-19</pages><year>2020</year>"
            f"<volume>7</volume><journal>{VENUE}</journal><number>2</number>"
            "<ee>https://doi.org/10.1000/w.{n}</ee></article>\n",
        )
        + '<www key="homepages/a"><author>Ada Author</author><title>Home Page</title></www>\n</dblp>'
    )


def atom(titles: Sequence[str]) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        "<title>Query</title>\n"
        + _xml(
            titles,
            "<entry><id>http://arxiv.org/abs/2005.0000{n}v2</id><published>2020-05-03T00:00:00Z</published>"
            f"<title>{{t}}</title><summary>{ABSTRACT}</summary><author><name>Ada Author</name></author>"
            '<author><name>Benjamin C. Bee</name></author><arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">'
            f"10.1000/w.{{n}}</arxiv:doi><arxiv:journal_ref>{VENUE} 7, 10 (2020)</arxiv:journal_ref>"
            '<category term="cs.CL"/></entry>\n',
        )
        + "</feed>"
    )


def oai(titles: Sequence[str]) -> str:
    return (
        '<?xml version="1.0"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>\n'
        + _xml(
            titles,
            "<record><header><identifier>oai:example.org:{n}</identifier></header><metadata>"
            '<oai_dc:dc xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{t}</dc:title>'
            "<dc:creator>Author, Ada</dc:creator><dc:creator>Bee, Benjamin C.</dc:creator>"
            f"<dc:description>{ABSTRACT}</dc:description><dc:date>2020-05-03</dc:date><dc:type>article</dc:type>"
            f"<dc:source>{VENUE}</dc:source><dc:subject>rain</dc:subject>"
            "<dc:identifier>https://doi.org/10.1000/w.{n}</dc:identifier></oai_dc:dc></metadata></record>\n",
        )
        + '<record><header status="deleted"><identifier>oai:example.org:0</identifier></header></record>'
        "</ListRecords></OAI-PMH>"
    )


def mods(titles: Sequence[str]) -> str:
    return (
        '<?xml version="1.0"?>\n<mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3">\n'
        + _xml(
            titles,
            '<mods:mods ID="key{n}"><mods:titleInfo><mods:title>{t}</mods:title></mods:titleInfo>'
            '<mods:name type="personal"><mods:namePart type="family">Author</mods:namePart>'
            '<mods:namePart type="given">Ada</mods:namePart><mods:role><mods:roleTerm>aut</mods:roleTerm></mods:role>'
            '</mods:name><mods:name type="personal"><mods:namePart type="family">Bee</mods:namePart>'
            '<mods:namePart type="given">Benjamin C.</mods:namePart><mods:role><mods:roleTerm type="code">aut'
            f"</mods:roleTerm></mods:role></mods:name><mods:abstract>{ABSTRACT}</mods:abstract>"
            '<mods:genre>journal article</mods:genre><mods:identifier type="doi">10.1000/w.{n}</mods:identifier>'
            "<mods:subject><mods:topic>rain</mods:topic></mods:subject>"
            f'<mods:relatedItem type="host"><mods:titleInfo><mods:title>{VENUE}</mods:title></mods:titleInfo>'
            "<mods:originInfo><mods:dateIssued>2020-05</mods:dateIssued></mods:originInfo><mods:part>"
            '<mods:detail type="volume"><mods:number>7</mods:number></mods:detail>'
            '<mods:detail type="issue"><mods:number>2</mods:number></mods:detail>'
            '<mods:extent unit="pages"><mods:start>10</mods:start><mods:end>19</mods:end></mods:extent></mods:part>'
            "</mods:relatedItem></mods:mods>\n",
        )
        + "</mods:modsCollection>"
    )


def marcxml(titles: Sequence[str]) -> str:
    def field(tag: str, **codes: str) -> str:
        inner = "".join(
            f'<marc:subfield code="{code[-1]}">{text}</marc:subfield>' for code, text in codes.items()
        )
        return f'<marc:datafield tag="{tag}" ind1=" " ind2=" ">{inner}</marc:datafield>'

    return (
        '<?xml version="1.0"?>\n<marc:collection xmlns:marc="http://www.loc.gov/MARC21/slim">\n'
        + _xml(
            titles,
            "<marc:record><marc:leader>00000nab a2200000 a 4500</marc:leader>"
            '<marc:controlfield tag="001">m{n}</marc:controlfield>'
            + field("024", a="10.1000/w.{n}", _2="doi")
            + field("100", a="Author, Ada,", e="author")
            + field("245", a="{t} /", c="Ada Author")
            + field("264", b="Rain Press,", c="2020.")
            + field("520", a=ABSTRACT)
            + field("650", a="rain.")
            + field("700", a="Bee, Benjamin C.")
            + field("773", t=VENUE, g="Vol. 7, no. 2 (2020), p. 10-19", x="1234-5678")
            + "</marc:record>\n",
        )
        + "</marc:collection>"
    )


def endnote_xml(titles: Sequence[str]) -> str:
    def styled(text: str) -> str:
        return f'<style face="normal" font="default" size="100%">{text}</style>'

    return (
        '<?xml version="1.0" encoding="UTF-8" ?><xml><records>\n'
        + _xml(
            titles,
            '<record><database name="my.enl" path="my.enl">my.enl</database><rec-number>{n}</rec-number>'
            '<ref-type name="Journal Article">17</ref-type><contributors><authors>'
            f"<author>{styled('Author, Ada')}</author><author>{styled('Bee, Benjamin C.')}</author></authors>"
            f"</contributors><titles><title>{styled('{t}')}</title><secondary-title>{styled(VENUE)}"
            f"</secondary-title></titles><periodical><full-title>{styled(VENUE)}</full-title></periodical>"
            f"<pages>{styled('10-19')}</pages><volume>{styled('7')}</volume><number>{styled('2')}</number>"
            f"<keywords><keyword>{styled('rain')}</keyword></keywords><dates><year>{styled('2020')}</year></dates>"
            f"<isbn>{styled('1234-5678')}</isbn><electronic-resource-num>{styled('10.1000/w.{n}')}"
            f"</electronic-resource-num><abstract>{styled(ABSTRACT)}</abstract></record>\n",
        )
        + "</records></xml>"
    )


def zotero_rdf(titles: Sequence[str]) -> str:
    def person(family: str, given: str) -> str:
        return (
            f"<rdf:li><foaf:Person><foaf:surname>{family}</foaf:surname><foaf:givenName>{given}"
            "</foaf:givenName></foaf:Person></rdf:li>"
        )

    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:z="http://www.zotero.org/namespaces/export#">\n'
        + _xml(
            titles,
            '<bib:Article rdf:about="http://example.org/{n}"><z:itemType>journalArticle</z:itemType>'
            '<dcterms:isPartOf rdf:resource="urn:issn:1234-567{n}"/><bib:authors><rdf:Seq>'
            + person("Author", "Ada")
            + person("Bee", "Benjamin C.")
            + f"</rdf:Seq></bib:authors><dcterms:abstract>{ABSTRACT}</dcterms:abstract><dc:title>{{t}}</dc:title>"
            "<dc:date>2020-05-03</dc:date><bib:pages>10-19</bib:pages><dc:subject>rain</dc:subject></bib:Article>\n"
            '<bib:Journal rdf:about="urn:issn:1234-567{n}"><prism:volume>7</prism:volume>'
            f"<dc:title>{VENUE}</dc:title><prism:number>2</prism:number>"
            "<dc:identifier>DOI 10.1000/w.{n}</dc:identifier><dc:identifier>ISSN 1234-5678</dc:identifier>"
            '</bib:Journal>\n<z:Attachment rdf:about="#a{n}"><z:itemType>attachment</z:itemType>'
            "<dc:title>Full text</dc:title></z:Attachment>\n",
        )
        + "</rdf:RDF>"
    )


def enw(titles: Sequence[str]) -> str:
    return _join(
        titles,
        "%0 Journal Article\n%A Author, Ada\n%A Bee, Benjamin C.\n%D 2020\n%T {t}\n"
        f"%J {VENUE}\n%V 7\n%N 2\n%P 10-19\n%@ 1234-5678\n%R 10.1000/w.{{n}}\n%K rain\n%X {ABSTRACT}\n\n",
    )


def refworks(titles: Sequence[str]) -> str:
    return _join(
        titles,
        "RT Journal Article\nSR Electronic(1)\nID {n}\nA1 Author, Ada\nA1 Bee, Benjamin C.\nT1 {t}\nYR 2020\n"
        f"JF {VENUE}\nVO 7\nIS 2\nSP 10\nOP 19\nSN 1234-5678\nK1 rain\nDO 10.1000/w.{{n}}\nAB {ABSTRACT}\n\n",
    )


def eric(titles: Sequence[str]) -> str:
    return _join(
        titles,
        "OWN - ERIC\nTI  - {t}\nAU  - Author, Ada\nAU  - Bee, Benjamin C.\nOT  - rain\n"
        f"JT  - {VENUE}\nDP  - 2020\nVI  - 7\nIP  - 2\nPG  - 10-19\nOID - EJ00{{n}}\n"
        f"LID - https://doi.org/10.1000/w.{{n}}\nAB  - {ABSTRACT}\nPT  - Journal Articles\n\n",
    )


def ovid(titles: Sequence[str]) -> str:
    return _join(
        titles,
        "<{n}>\nVN  - Ovid Technologies\nDB  - Embase\nUI  - 200{n}\nAU  - Author, Ada\nAU  - Bee, Benjamin C.\n"
        f"TI  - {{t}}\nSO  - {VENUE}. 7(2):10-19, 2020.\nAB  - {ABSTRACT}\nKW  - rain\n"
        "DO  - https://dx.doi.org/10.1000/w.{n}\n\n",
    )


def ovid_fields(titles: Sequence[str]) -> str:
    """Ovid's other layout: the name of a field, its text set in below."""
    return _join(
        titles,
        "<{n}>\nAccession Number\n  200{n}\nTitle\n  {t}\nAuthors\n  Author, Ada; Bee, Benjamin C.\n"
        f"Source\n  {VENUE}. 7(2):10-19, 2020.\nAbstract\n  {ABSTRACT}\nAuthor Keywords\n  rain\n"
        "Digital Object Identifier\n  10.1000/w.{n}\n\n",
    )


def crossref(titles: Sequence[str]) -> str:
    people = [{"given": "Ada", "family": "Author"}, {"given": "Benjamin C.", "family": "Bee"}]
    items = _list(
        titles,
        {
            "indexed": {"date-parts": [[2024, 1, 1]]},
            "reference-count": 3,
            "publisher": "Rain Press",
            "DOI": "10.1000/w.{n}",
            "type": "journal-article",
            "issued": {"date-parts": [[2020, 5, 3]]},
            "title": ["{t}"],
            "author": people,
            "container-title": [VENUE],
            "volume": "7",
            "issue": "2",
            "page": "10-19",
            "ISSN": ["1234-5678"],
            "subject": ["rain"],
            "abstract": "<jats:title>Abstract</jats:title>"
            + "".join(
                f"<jats:sec><jats:title>{head}</jats:title><jats:p>{body}</jats:p></jats:sec>"
                for head, body in _PARTS
            ),
        },
    )
    answer = {"status": "ok", "message-type": "work-list", "message": {"total-results": 3, "items": items}}
    return json.dumps(answer, ensure_ascii=False)


def europe_pmc(titles: Sequence[str]) -> str:
    people = [{"lastName": "Author", "firstName": "Ada"}, {"lastName": "Bee", "firstName": "Benjamin C."}]
    items = _list(
        titles,
        {
            "id": "{n}",
            "source": "MED",
            "pmid": "{n}",
            "doi": "10.1000/w.{n}",
            "title": "{t}.",
            "authorString": "Author A, Bee BC.",
            "authorList": {"author": people},
            "journalInfo": {"issue": "2", "volume": "7", "journal": {"title": VENUE, "issn": "1234-5678"}},
            "pubYear": "2020",
            "pageInfo": "10-19",
            "abstractText": "".join(f"<h4>{head}</h4>{body}" for head, body in _PARTS),
            "keywordList": {"keyword": ["rain"]},
            "pubTypeList": {"pubType": ["Journal Article"]},
            "firstPublicationDate": "2020-05-03",
        },
    )
    return json.dumps({"version": "6.9", "hitCount": 3, "resultList": {"result": items}}, ensure_ascii=False)


def biorxiv(titles: Sequence[str]) -> str:
    items = _list(
        titles,
        {
            "doi": "10.1000/w.{n}",
            "title": "{t}",
            "authors": "Author, A.; Bee, B. C.",
            "date": "2020-05-03",
            "version": "1",
            "category": "rain",
            "jatsxml": "https://example.org/x.xml",
            "abstract": ABSTRACT,
            "server": "biorxiv",
        },
    )
    return json.dumps({"messages": [{"status": "ok"}], "collection": items}, ensure_ascii=False)


def datacite(titles: Sequence[str]) -> str:
    items = _list(
        titles,
        {
            "id": "10.1000/w.{n}",
            "type": "dois",
            "attributes": {
                "doi": "10.1000/w.{n}",
                "creators": [
                    {"name": "Author, Ada", "givenName": "Ada", "familyName": "Author"},
                    {"name": "Bee, Benjamin C."},
                ],
                "titles": [{"title": "{t}"}],
                "publisher": "Rain Press",
                "container": {
                    "title": VENUE,
                    "volume": "7",
                    "issue": "2",
                    "firstPage": "10",
                    "lastPage": "19",
                },
                "publicationYear": 2020,
                "subjects": [{"subject": "rain"}],
                "types": {"resourceTypeGeneral": "JournalArticle"},
                "descriptions": [{"description": ABSTRACT, "descriptionType": "Abstract"}],
            },
        },
    )
    return json.dumps({"data": items, "meta": {"total": 3}}, ensure_ascii=False)


def zotero(titles: Sequence[str]) -> str:
    creators = [
        {"creatorType": "author", "firstName": "Ada", "lastName": "Author"},
        {"creatorType": "author", "firstName": "Benjamin C.", "lastName": "Bee"},
    ]
    items = _list(
        titles,
        {
            "key": "KEY{n}",
            "version": 1,
            "library": {"type": "user", "id": 1},
            "data": {
                "key": "KEY{n}",
                "itemType": "journalArticle",
                "title": "{t}",
                "creators": creators,
                "abstractNote": ABSTRACT,
                "publicationTitle": VENUE,
                "date": "2020-05-03",
                "volume": "7",
                "issue": "2",
                "pages": "10–19",
                "DOI": "10.1000/w.{n}",
                "ISSN": "1234-5678",
                "tags": [{"tag": "rain"}],
            },
        },
    )
    items.append({"key": "A", "library": {}, "data": {"itemType": "attachment", "title": "Full Text PDF"}})
    return json.dumps(items, ensure_ascii=False, indent=1)


def cff(titles: Sequence[str]) -> str:
    """One file describes one work: the others are its references, which are not read."""
    return (
        "cff-version: 1.2.0\nmessage: Please cite it.\n"
        f"title: {json.dumps(titles[0], ensure_ascii=False)}\n"
        "authors:\n  - family-names: Author\n    given-names: Ada\n"
        '  - family-names: Bee\n    given-names: "Benjamin C."\n'
        f"abstract: >-\n  {ABSTRACT}\nkeywords:\n  - rain\ndoi: 10.1000/w.1\ndate-released: 2020-05-03\n"
        f"journal: {VENUE}\nvolume: 7\nissue: 2\nstart: 10\nend: 19\ntype: article\n"
    )


def workbook(rows: Sequence[Sequence[str]], shared: bool = True) -> bytes:
    """A workbook of one sheet, with shared texts as Excel writes them or with texts in its cells."""
    texts: list[str] = []

    def cell(text: str, column: int, row: int) -> str:
        letters = ("" if column < 26 else chr(64 + column // 26)) + chr(65 + column % 26)
        place = f'r="{letters}{row}"'
        if text.isdecimal():
            return f"<c {place}><v>{text}</v></c>"
        if not shared:
            return f'<c {place} t="inlineStr"><is><t>{escape(text)}</t></is></c>'
        texts.append(text)
        return f'<c {place} t="s"><v>{len(texts) - 1}</v></c>'

    lines = [
        f'<row r="{number}">{"".join(cell(text, at, number) for at, text in enumerate(row) if text)}</row>'
        for number, row in enumerate(rows, 1)
    ]
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    parts = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f"<workbook {space}/>",
        "xl/worksheets/sheet1.xml": f"<worksheet {space}><sheetData>{''.join(lines)}</sheetData></worksheet>",
    }
    if shared:
        strings = "".join(f"<si><r><t>{escape(text)}</t></r></si>" for text in texts)
        parts["xl/sharedStrings.xml"] = f"<sst {space}>{strings}</sst>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def xlsx(titles: Sequence[str]) -> bytes:
    names = [
        "Article Title",
        "Authors",
        "Abstract",
        "Publication Year",
        "Source Title",
        "DOI",
        "Author Keywords",
    ]
    rows = [
        [title, "; ".join(AUTHORS), ABSTRACT, "2020", VENUE, doi(number), "rain"]
        for number, title in enumerate(titles, 1)
    ]
    return workbook([["Exported by hand"], names, *rows])


def ebsco(titles: Sequence[str]) -> str:
    people = "".join(f"<au>{name}</au>" for name in AUTHORS)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<records>\n'
        + _xml(
            titles,
            '<rec resultID="{n}"><header shortDbName="a9h" longDbName="Academic Search" uiTerm="10{n}"><controlInfo>'
            f"<bkinfo/><jinfo><jtl>{VENUE}</jtl><issn>12345678</issn></jinfo><pubinfo>"
            '<dt year="2020" month="05" day="03">May2020</dt><vid>7</vid><iid>2</iid></pubinfo><artinfo>'
            '<ui type="doi">10.1000/w.{n}</ui><ppf>10</ppf><ppct>10</ppct><tig><atl>{t}.</atl></tig>'
            f"<aug>{people}</aug><sug><subj>rain</subj></sug><ab>{ABSTRACT}</ab><doctype>Article</doctype>"
            "</artinfo><language>English</language></controlInfo></header></rec>\n",
        )
        + "</records>"
    )


MAKERS = {
    "atom": atom, "biorxiv": biorxiv, "cff": cff, "crossref": crossref, "datacite": datacite, "dblp": dblp,
    "ebsco": ebsco, "endnote-xml": endnote_xml, "enw": enw, "eric": eric, "europe-pmc": europe_pmc, "jats": jats,
    "marcxml": marcxml, "mods": mods, "oai": oai, "ovid": ovid, "refworks": refworks, "tei": tei,
    "xlsx": xlsx, "zotero": zotero, "zotero-rdf": zotero_rdf,
}  # fmt: skip


def make_files(titles: Sequence[str]) -> dict[str, bytes]:
    """A file of each of these formats, by its name."""
    made = {kind: make(titles) for kind, make in MAKERS.items()}
    return {kind: data if isinstance(data, bytes) else data.encode() for kind, data in made.items()}
