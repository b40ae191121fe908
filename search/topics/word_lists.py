"""Words that bound phrases or say nothing of a topic; lists of English written by hand."""

from __future__ import annotations

DETERMINERS = frozenset(
    "a all an another any both each eight every five four her his its my nine no one our seven six some "
    "such ten that the their these this those three two what which whose your".split()
)
"""A word that is often followed by one of these is a verb or a preposition."""

SUBJECTS = frozenset(
    "can cannot could he i it may might must not shall she should they to we who will would you".split()
)
"""A word that often follows one of these is a verb."""

ENDS = frozenset(
    "! ( ) . : ; ? across after against among are as at based be because before between by can could did "
    "do does during for from had has have if in into is may might must of on over should since such than "
    "that through to under using via was were when where which while who will with within "
    "without would".split()
)
"""A noun often stands before one of these; an adjective hardly ever does."""

FUNCTION_WORDS = (
    DETERMINERS
    | SUBJECTS
    | ENDS
    | frozenset(
        "about above according accordingly actually addition afterwards again ago ahead al albeit almost "
        "along already also although always amid amongst and anyone anything apart around aside away back "
        "became become becomes becoming been behind being below beneath beside besides best "
        "better beyond but "
        "can't come comes concerning contrast course despite doesn't doing don't done down due e.g eg either "
        "else elsewhere enough especially et etc even ever everyone everything except far few fewer finally "
        "first firstly following follows forth found further furthermore gave get gets getting give given "
        "gives giving go goes going gone good got great hence here hereby herein herself higher himself how "
        "however i.e ie including indeed inside instead isn't it's itself just kept last latter least less "
        "lest let like likewise little longer lot lower made mainly make makes making many meanwhile mere "
        "merely more moreover most mostly much myself namely near nearly need needed needs neither never "
        "nevertheless next nonetheless nor now nowadays number off often once only onto or order "
        "other others "
        "otherwise ought ours ourselves out outside overall own part particular particularly per perhaps "
        "please plus possible possibly prior put quite rather re really regarding regardless related respect "
        "respectively same second secondly see seem seemed seems seen self several shown similar simply so "
        "somehow someone something sometimes somewhat soon still take taken takes taking terms thanks "
        "themselves then there thereby therefore therein third thirdly though throughout thus till together "
        "too took toward towards unless unlike until up upon us use used useful uses usually various very vs "
        "want wants way ways well went whereas whereby wherever whether whole whom why wide widely works "
        "worse worst yet yourself".split()
    )
)
"""No phrase holds one of these."""

VERB_STEMS = frozenset(
    "aim parse interact merge decode conform find climb fall wait overlook exclude lose miss hide "
    "achieve acquire adapt adopt advocate alleviate allow ameliorate amplify analyse analyze annotate "
    "appear apply argue arise ask assess assign assume attain augment base beat begin believe belong "
    "boost bring build bypass calculate capture categorise categorize characterise characterize choose "
    "circumvent clarify classify collect combine compare compete compile complement compose comprise "
    "compute concentrate conclude conduct confirm consider consist constitute construct contain continue "
    "contribute convert convey cope correspond cover create deal decide define deliver demonstrate denote "
    "depend deploy derive describe detect determine develop devise differ discover discuss distinguish "
    "divide elicit emerge employ enable encode encounter encourage engage enhance enrich ensure entail "
    "establish evaluate evolve examine exceed exemplify exhibit exist expand expect explain exploit "
    "explore extend facilitate fail fine-tune finetune follow formulate gather generalise generalize "
    "generate give grow handle happen highlight hypothesise hypothesize identify illustrate implement "
    "imply improve incorporate indicate induce infer inform inspire integrate intend introduce "
    "investigate involve justify keep know learn leave lend leverage lie maintain manage maximise "
    "maximize mean minimise minimize mitigate modify motivate observe obtain occur operate optimise "
    "optimize originate outline outperform outweigh overcome participate pay perform pose possess predict "
    "prefer prepare preserve prevent propose prove provide publish pursue quantify raise realise realize "
    "receive recognise recognize rectify reduce refer reflect rely remain remove render replace represent "
    "require resemble resolve resort respond retain reuse reveal rival satisfy say seek select serve shed "
    "simplify solve speak specify spend submit suffer suggest surpass tackle tell tend think underlie "
    "underperform understand undertake unify utilise utilize validate vary verify win write".split()
)
"""Verbs of abstracts that are hardly ever nouns: these and their forms with -s are in no phrase. Their other
forms are told by their use: "annotated corpora", "machine learning"."""

WEAK_MODIFIERS = frozenset(
    "able above-mentioned abovementioned absolute acceptable accurate actual additional adequate advanced "
    "aforementioned alternative ambitious ample appropriate available bad basic best-performing big brief "
    "broad central certain challenging cheap clear close coherent common comparable comparative "
    "competitive complementary complete complex comprehensive concrete considerable consistent "
    "conventional convincing correct corresponding costly crucial current cutting-edge decent deeper "
    "desirable desired detailed different difficult distinct diverse downstream dramatic earlier early "
    "easier easy effective efficient elegant empirical encouraging enhanced entire equal equivalent "
    "essential established excellent existing expensive experimental extensive extra fair famous fast "
    "faster favorable fifth final first-ever flexible fourth fresh full fundamental future general "
    "generic genuine greater growing half handy hard harder heavy helpful high-performing high-quality "
    "highest huge ideal identical immediate important impressive improved inadequate increasing "
    "increasingly independent individual inherent initial innovative insufficient integral interesting "
    "intermediate intrinsic involved key known labor-intensive large large-scale larger largest latest "
    "leading limited lowest main major manifold massive maximal mean meaningful median minimal minor "
    "modern modest more multiple naive near-perfect necessary new newer newly next nice non-trivial "
    "normal notable novel numerous obvious off-the-shelf old older on-going on-par one-third ongoing "
    "optimal ordinary original outstanding overall perfect poor popular positive potential powerful "
    "practical precise preliminary present previous primary principled prior prominent promising proper "
    "proposed publicly-available pure quick quicker rapid rare real real-world reasonable recent relative "
    "relevant reliable remarkable representative respective richer right rigorous robust rough same-sized "
    "satisfactory scarce separate serious short shorter significant simple simpler single sizable slight "
    "small smaller smallest smooth so-called so-far solid sophisticated special specific standard "
    "state-of-the-art straightforward strict striking strong stronger strongest substantial successful "
    "sufficient suitable superior sure surprising tedious third time-consuming tiny top total traditional "
    "tremendous true typical ultimate under-explored underexplored underlying unexplored unique "
    "unprecedented unsatisfactory upcoming urgent usable usual valuable varied vast vital weak "
    "well-established well-known whole-scale wide-ranging wider winning worse worthwhile wrong "
    "achieved blind impressive in-depth technical upper widespread".split()
)
"""Adjectives that say how good, new or large something is, not what it is: no phrase begins with one."""

GENERIC = frozenset(
    "nlp society exchange ablation verification foreign "
    "natural training tweet transcript transcription mention speaker translator native publication post "
    "correction talk document sentence paragraph abstract corpus corpora annotator human scientific "
    "shared participating raw qualitative quantitative pre-trained pretrained labeled labelled annotated "
    "ability academia access account accuracy achievement act action activity advance advancement "
    "advantage affiliation age agreement aid aim algorithm alternative amount analyses analysis answer "
    "appendix applicability application approach architecture area article aspect assessment association "
    "assumption attempt attention author authors availability background baseline basis behavior "
    "behaviour benchmark benefit billion body book campaign capability capacity case category cause "
    "challenge chance change chapter characteristic choice class code collection college combination "
    "comment comparison competition completeness complexity component computation concept concern "
    "conclusion condition conference consequence consideration consistency construction contribution "
    "control correlation correspondence cost couple coverage criteria criterion data database dataset "
    "datasets day deal decade decision definition degree demand demo demonstration department dependence "
    "description design detail development difference difficulty direction disadvantage discussion "
    "distribution diversity domain dozen drawback edition effect effectiveness efficacy efficiency effort "
    "element end enrichment environment error estimate evaluation everyday evidence example exception "
    "existence expectation experience experiment experimentation expert explanation extension extent "
    "f-measure f-score f1 f1-score fact factor failure feature field figure finding flexibility focus "
    "form formalism format foundation framework function functionality future gain gap generality github "
    "goal group growth guideline hand help high hope hour hours hundred hypotheses hypothesis idea impact "
    "implementation importance improvement increase indication individual industry influence information "
    "initiative input insight instance institute institution interaction interest interpretation "
    "introduction investigation issue item job journal k kind kinds knowledge lack language languages "
    "last law layer leaderboard length lens lesson level life light limit limitation line link list "
    "literature long loss lot low magnitude majority manner margin material matter mean means measure "
    "measurement mechanism member method methodology metric million minimum minute mode model modeling "
    "modelling module month motivation n name nature necessity need notion novelty number object "
    "objective observation obstacle one operation opportunity option organisation organiser organization "
    "organizer origin outcome output overview p pair pairs paper paradigm parameter participant "
    "participation past path people percent percentage percentage-point performance period person "
    "perspective phase phenomena phenomenon pipeline place plan plenty point points popularity population "
    "position possibility potential practice practitioner precision prediction presence principle problem "
    "procedure process processing product program programme progress project proof property proportion "
    "proposal prospect prototype public publication purpose quality quantity question questions range "
    "rank ranking rate rating ratio rationale reader reality reason recall recommendation reduction "
    "reference region relation relationship relevance reliability report repository representation "
    "requirement research researcher resource respect response result results rise robustness role room "
    "rule run sample scale scenario scheme scholar school science scope score scores scratch section "
    "sense sensitivity series set sets setting setup shape share short shortcoming shot side significance "
    "similarity simplicity situation size skill society software solution sort sorts sota source space "
    "speed spite stage standard state statistic status step strategy strength structure studies study "
    "style subject submission subset success suitability sum summary superiority support survey system "
    "table target task team technique technology template tendency term test testbed text theory thesis "
    "thing thousand time today tool top topic total track trade-off tradeoff trait transformation trend "
    "trial type understanding unit university usage use usefulness user utility validity value variable "
    "variance variant variation variety version view viewpoint volume way weakness website week word work "
    "worker workshop world x y year z "
    "ability adoption bound checkpoint generalisation generalization ground page".split()
)
"""Nouns of every field: a phrase needs at least one other word, for "strong system" names nothing."""

NOT_LAST = frozenset(
    "aware bilingual broken built chosen closer cross-lingual deep domain-specific done drawn driven "
    "end-to-end few-shot fine-tuned given hidden high-resource human known lay low-resource made "
    "learner learners maker makers society societies speaker speakers "
    "monolingual multilingual native natural noisy offline online open parallel pre-trained pretrained "
    "raw rich seen shown social sparse spoken such taken unable unclear understood wise "
    "written zero-shot".split()
)
"""Words that look like nouns to the counts and are not, and people: no phrase ends with one."""
