import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

export const turkish: Language = {
  code: 'tr',
  name: 'Turkish',
  lines: {
    fillers: ['Bir saniye lütfen.', 'Hemen bakıyorum.', 'Kontrol ediyorum.', 'Biraz daha bekleteceğim.'],
    apology: 'Özür dilerim, bir sorun oluştu. Tekrar söyler misiniz?',
    misheard: 'Özür dilerim, anlayamadım. Tekrar söyler misiniz?',
    farewell: 'Hoşça kalın.',
    hold: 'Sorun hâlâ sürüyor. Lütfen hatta kalın.',
    back: 'Beklediğiniz için teşekkür ederim.',
    unheardNote: '[Arayan yanıtınızı duymadı. Şimdi verin.]',
    announcement: '',
    idleQuestion: 'Hâlâ orada mısınız?',
    confirmQuestion: 'Bunu yapmamı onaylıyor musunuz?',
    keysNote: '[Arayan şu tuşlara bastı: {digits}]',
    returnLine: 'Üzgünüm, şu anda kimse yanıt veremedi. Başka nasıl yardımcı olabilirim?',
    operatorLost: 'Özür dilerim, arkadaşımla bağlantı koptu. Yeniden sizinleyim. Nasıl yardımcı olabilirim?',
  },
  backchannels: listed(
    'tamam|tamamdır|evet|anladım|anlıyorum|peki|tabii|tabi|tabii ki|olur|doğru|aynen|aynen öyle|öyle|güzel|iyi|he|ha|hah',
    'ok|okey|okay|eyvallah|elbette|kesinlikle|harika|süper|sorun değil|sorun yok|ne güzel',
  ),
  nods: {
    core: spaced(
      'vaov gerçekten gerçek ilginç ilginçmiş enteresan güzel güzelmiş iyi iyiymiş harika harikaymış süper süpermiş muhteşem mükemmel şahane müthiş nefis',
      'enfes fevkalade hoş hoşmuş doğru doğruymuş mantıklı faydalı yararlı uygun uyar tamam tamamdır evet anladım anlıyorum anlaşıldı',
      'biliyorum sevindim sevindirici memnun mutlu haklısınız haklısın öyle öyleymiş demek aynen kesinlikle elbette tabii tabi kuşkusuz şüphesiz',
      'hakikaten sahi sahiden cidden ciddi katılıyorum düşünmüştüm rahatladım şükür neyse allahtan eyvallah peki vay vaay tanrım allah şaşırdım',
      'inanılmaz etkileyici komik garip tam kabul makul normal doğal rahatlatıcı',
      'aferin bravo helal hayret tüh yazık eyvah pratikmiş kolaymış',
      'naziksiniz naziksin kibarsınız incesiniz tatlısınız cömertsiniz harikasınız süpersiniz düşüncelisiniz haklı üzücü acayip değişik heyecanlı kolay pratik kullanışlı sanırım muhtemelen tahminimce bekliyordum düşündüm düşünüyordum tahmin düşündüğüm',
      'düşünceli adil akıllıca akıllı zekice kibar nazik ince tatlı şirin zarif leziz etkilendim etkilenmiş sevindirdi sevindi duygulandım',
      'minnettarım tatmin ikna unutmuşum unutmuştum duymuştum fark umuyordum sanıyordum biliyordum haberim bayağı epey oldukça cesaretlendirici umut',
      'ferah keyifli eğlenceli zevkli dokunaklı acı endişe saçma çılgın delice olağanüstü sıradışı sağlam yerinde isabetli',
      'becerikli istediğim beklediğim sandığım umduğum',
      'yaşasın oley of öf püf vah aman hay oha yuh hah hop ay ayy abov tebrikler tebrik maşallah üzgün şok şaşkın hayran bayıldım efsane on numara',
      'bomba manyak muazzam görkemli tuhaf gülünç acıklı mucize',
    ),
    inflection: undefined,
    light: spaced(
      'teşekkürler teşekkür sağol sağolun oldu olur ah ha he oh ya bu şu o bunu onu buna ben de da ki çok en gayet bir zaman bence bana benim için canım aman be sizi siz bilmek duymak duyduğuma',
      'şimdi yine işte geliyor görünüyor kulağa söylüyorsunuz olarak fikir haber fikirdeyim aynı bari canına dediğiniz gibi hep ne ederim oldum',
      'bilmem bilmesi sağ olun olasınız ettim bile miş',
      'geldi gelmiş bize sana onun bunun şunun burada orada böyle şöyle kadar ile üzerine hakkında daha fazla oldukça epey bayağı diye olmuş olmuştu',
      'olurdu olacak olsun vardı varmış imiş idi ise hâlâ artık sizce bizim sizin onlar biz sen',
      'şey jest plan seçim teklif hikaye sürpriz tesadüf hizmet ayrıntı çözüm',
    ),
    exclaiming: spaced('ne kadar'),
    inverting: [],
    wondering: listed(
      'öyle mi|ya öyle mi|gerçekten mi|cidden mi|sahi mi|ciddi misiniz|ciddi misin|doğru mu|öyle miymiş|ya|hadi ya|yapma ya|deme ya|değil mi',
      'gerçekten',
    ),
    phrases: listed(
      'fark ettim|farkındayım|çok teşekkürler|vay be|vay canına|allah allah|aman tanrım|bilmiyordum|bunu bilmiyordum|hiç bilmiyordum|tahmin etmiştim',
      'tahmin ediyordum|öyle düşünmüştüm|ben de öyle düşünmüştüm|öyle tahmin etmiştim|fena değil|hiç fena değil|problem değil|hiç sorun değil',
      'hiç sorun yok|bir şey değil|ne demek istediğinizi anladım|çok şükür|neyse ki|ne kadar güzel|ne kadar ilginç|ne kadar iyi|ne mutlu|iyi ki',
      'olur tabii|elbette ki|tahmin edebiliyorum|bu açıklıyor|şaşırmadım|dinliyorum|sizi dinliyorum|buradayım|hoşuma gitti|beğendim|ne sürpriz',
      'not aldım|daha iyi|çok sevindim',
      'bak sen|bak hele|bak şu işe|vay vay|aa evet|ha evet|a evet|işime yarar|işime yaradı|çok işime yaradı|yok canım|yok artık|yok ya|hadi canım|haydi ya',
      'ne diyorsunuz|ne diyorsun|oh be|bayıldım|çok beğendim|maşallah|inşallah|vallahi mi|vallahi|valla mı|ilahi|ne şans|şansa bak|şansa bakın|helal olsun',
      'bu rahatlattı|bu beni rahatlattı|içim rahatladı|hayret doğrusu|ne pratik|ne kolay|ne hoş|mükemmel olmuş|güzel olmuş|iyi olmuş|çok iyi olmuş|ne iyi',
      'aman ne iyi|aman ne güzel|aman allahım|şimdi anladım|şimdi anlaşıldı|desenize|desene|vah vah|hay allah|olacak iş değil|işte bu|ben de öyle duydum',
      'duymuştum|hatırladım|hatırlıyorum|şimdi hatırladım|not ettim|kaydettim|aydınlandım|kulağa hoş geliyor|ne güzel haber|sağlık olsun|canınız sağ olsun',
      'hayırlısı|hayırlı olsun',
      'takip ediyorum|sizi takip ediyorum|oldu|oldu o zaman|tam düşündüğüm gibi|düşündüğüm gibi|beklediğim gibi|bunu bekliyordum|şaka gibi|şaka mı bu|inanamıyorum|inanmıyorum',
      'içime su serpildi|içim açıldı|yüreğime su serpildi|aklımdan çıkmış|unutmuşum|unutmuşum onu',
      'kim derdi|kim derdi ki|kim bilebilirdi|kim tahmin ederdi|aklıma gelmezdi|hiç aklıma gelmezdi|inanmak zor|inanması zor|şaka yapıyorsunuz',
      'şaka yapıyorsun|dalga geçiyorsunuz|ciddi olamazsınız|olamaz|hiç sanmazdım|beklemiyordum|bunu beklemiyordum|hiç beklemiyordum|hayat işte',
      'hayat böyle|yapacak bir şey yok|elden ne gelir|nihayet|sonunda|çok geçmiş olsun|başınız sağ olsun|sizi anlıyorum|seni anlıyorum|iyi bilirim',
      'bilirim|bilmez miyim|sormayın|hiç sormayın|ağzınıza sağlık|elinize sağlık|kolay gelsin|ne diyeyim|ne desem|size katılıyorum|içime sindi',
      'gözünüz aydın|hadi bakalım|bak ya|bak şimdi|çok yazık|yazık oldu|ne günlere kaldık|haberim yoktu|hiç haberim yoktu|on numara',
    ),
    shapes: listed(
      'ne *|ne … bir …|ne kadar da *|güzel *|harika *|ne … ama|ne * şey|demek *|demek ki *|amma *|*mış|*miş|*muş|*müş|çok *mış|çok *miş|epey *mış|epey *miş|*tıcı|*tici|*dirici|*dırıcı|*yıcı|*yici|çok *ıcı|çok *ici',
      'çok *|gayet *|pek *|epey *|vay *|vay vay *|hay *|aman *|ah *|öyle *|aynen *|helal *|kim *ki|nasıl yani|hadi *',
      'vay …|vay be …|vay canına …|aman …|aman tanrım …|hay aksi …|eyvah …|allah allah …|oha …|yuh …|tüh …|vallahi …|inanılmaz …',
    ),
    telling: spaced(
      '*yor* *acak* *ecek* *acağ* *eceğ* *bilir* *dı *di *du *dü *tı *ti *tu *tü *dın *din *dun *dün *tın *tin *tun *tün *dım *dim *dum *düm *tım',
      '*tim *tum *tüm *dık *dik *duk *dük *dır *dir *dur *dür *ım *im *um *üm *rsin* *rsın* *nir *nır *mez *maz *mezsin*',
      '*mazsın* zaman* kadar oldu oluyor olacak demek* var yapıyor* yapmalıyım yapacağım istiyorsunuz istiyor renk saat gün tür fiyat için diyor',
      'diyorsunuz dediniz yok sürer sürüyor tutar tuttu uzak uzakta para ediyor eder kaldı yapayım lazım gerek* pahalı geç erken az fazla yavaş',
      'hızlı teşekkürler sessiz büyük küçük uzun kısa ağır yanlış* bozul* kapan* kaybol* iptal* değil hayır mi mı mu mü misiniz mısınız miyim mıyım',
      'bu o şu ben sen siz biz bana size beni bir dur bekle bekleyin evet yarın bugün dün sabah akşam öğle sonra önce şimdi pazartesi salı çarşamba',
      'perşembe cuma cumartesi pazar sipariş* adres* numara* hesap* kart* ile veya ve ama başka öbür diğer satıcı arıtıcı lütfen istiyorum isterim',
      'edin verin söyleyin söyler açın kapatın düzeltin gönderin bakın altmış yetmiş gümüş musunuz soru sorun hata gecik* yavaşça sesle acil kırık',
      'tekrar berbat* korkunç* rezalet* kötü* bitmiş ödenmiş ölmüş gelmemiş* *memiş *mamış olan konuş*',
      'form sigorta* şirket* sözleşme* fatura* link şifre banka* şube* tarife* ürün* belge* evrak* süre* ücret* ilaç* doktor* model marka demek',
      'hastane* kargo*',
    ),
  },
  goodbyes: listed(
    'güle güle|hoşça kal|hoşça kalın|görüşürüz|görüşmek üzere|iyi günler|iyi akşamlar|iyi geceler|kendinize iyi bakın|size de|bay bay|bye',
    'teşekkürler|teşekkür ederim|çok teşekkürler|çok teşekkür ederim|ben teşekkür ederim|sağ ol|sağ olun|sağolun|sağol|mersi',
  ),
  urgent: spaced('hayır yok dur durun bekle bekleyin ne kim nerede neden niye nasıl hangi kaç pardon stop'),
  hesitations: spaced(
    'ıı ııı ee eee şey yani ve ama veya ya çünkü ile için gibi eğer fakat ayrıca hani mesela bir ıhm hmm',
    'göre rağmen karşın dair acaba',
  ),
  doubtful: spaced(
    'ben sen biz siz bu şu o da de ki en çok daha belki aslında falan bana işte benim',
    'sonra önce dolayı',
  ),
  // Verbs that say when, how or on what condition, and the one that says what for is to come.
  leadingEnd:
    /^(?!erken$|sahip$|nasip$|takip$|garip$|kayıp$|ayıp$|kulüp$|rakip$|masa|kasa|olarak$).{2,}(?:[ıiuü]p|[ae]r[ae]k|[ıiuü]nc[ae]|[rş]ken|(?:rs|iyors|mişs|ıyors|uyors|üyors)[ae](?:m|k|n[ıi]z)?|ts[ae][mk]|[dt][ıiuü]ğ[ıiuü](?:m|n)?)$/u,
  begun: listed(
    'benim adım|adım|numaram|telefon numaram|sorun şu ki|mesele şu ki|şu ki|şey yani|nasıl desem|bir de',
    'öte yandan|bir yandan|diğer yandan|bir taraftan|ve sonra|ondan sonra|ilk olarak|öncelikle|örneğin|mesele şu|sorun şu|soru şu|benim durumumda|eğer mümkünse|mümkünse|dürüst olmak gerekirse|başka bir deyişle|bir nevi|bir çeşit|bir tür|duruma göre|bildiğim kadarıyla|gördüğüm kadarıyla|adresim|soyadım|doğum tarihim|telefonum|e-postam|sipariş numarası|müşteri numarası|hesap numarası|telefon numarası|ilk harfi|son harfi|onlardan biri|bunlardan biri|sizde hiç|bende hiç|rica etsem|rica edersem',
  ),
  openings: listed(
    'şey|yani|hani|şöyle|aslında|valla|bak|bakın|mesela',
    'ama|ve|şey yani|benim adım|adım|numaram|telefon numaram',
  ),
  shortQuestions: listed(
    'ne zamana kadar|ne zamandan beri|saat kaçta|saat kaça kadar|kiminle|kimin için|nereden|nereye|ne için|neden olmasın|başka ne|başka kim|hangisi|kaçta|kaça',
  ),
  thinking: listed(
    'bir bakayım|bakayım|bi bakayım|dur bakayım|durun bakayım|bir düşüneyim|düşüneyim|bi düşüneyim|bir saniye|bi saniye|bir saniye lütfen|bir dakika|bi dakika|bir dakika lütfen|bir an|bir an lütfen|biraz bekleyin|bekleyin|bekle|bir saniye bekleyin|bir dakika bekleyin',
    'bekleyin lütfen|hemen bakıyorum|bakıyorum|şimdi bakıyorum|bakmam lazım|bakmam gerek|bakmam gerekiyor|kontrol edeyim|kontrol etmem lazım|arıyorum|şu an arıyorum|düşünüyorum|düşünmem lazım|nasıl desem|nasıl diyeyim|ne diyecektim|güzel soru|iyi soru|müsaadenizle',
    'bakalım|bir bakalım|hele bir bakayım|dur bir düşüneyim|dur bir bakayım|nasıl söylesem|nasıl anlatsam|bir kontrol edeyim|bir saniye bakayım',
    'bir dakikanızı rica edeyim|bir saniyenizi alabilir miyim|hemen söylüyorum|şimdi söylüyorum|bakıp söyleyeyim|hemen söyleyeyim',
    'kartımı alıyorum|kartımı alayım|kartımı getireyim|nereye koydum|nereye koymuştum|bir bakayım da söyleyeyim|dilimin ucunda|hatta kalın',
    'biraz zaman verin|bana bir saniye verin|bulmam lazım|şimdi buluyorum|az kaldı|hatırlamaya çalışıyorum',
    'hemen geliyorum|hemen dönüyorum|şimdi geliyorum',
  ),
  askingForTime: {
    moments: spaced('saniye saniyecik saniyenizi dakika dakikacık dakikanızı an sabır bekler hatta'),
    granting: spaced(
      'bir iki bi yarım bana lütfen verin verir rica edeyim biraz sadece misiniz misin mısınız kalır kalın kalabilir bekleyin daha beni alabilir miyim',
    ),
    // The endings of its verbs say who does it.
    own: [],
    looks: spaced(
      'bakmam bakayım bakıyorum bakıp bulmam bulayım buluyorum aramam arayayım arıyorum kontrol düşünmem düşüneyim',
    ),
    takes: spaced(
      'alayım alıyorum almam getireyim getiriyorum getirmem çıkarayım çıkarıyorum çıkarmam açayım açıyorum açmam sorayım soruyorum sormam gireyim giriyorum',
      'girmem yapayım yapıyorum yapmam',
    ),
    things: spaced(
      'takvime ajandaya notlara deftere kartımı kartıma gözlüğümü gözlüklerimi kalem kalemi kağıt kâğıt kağıdı pasaportumu pasaportuma kimliğimi kimliğime cüzdanımı mektubu mektuba maili',
      'mailime e-postayı e-postama e-postamı uygulamayı uygulamaya belgeyi belgelere belgeleri evrakları evraklara faturayı faturaya dosyayı dosyaya takvimi',
      'takvimime ajandama notlarıma defterime eşime karıma kocama anneme babama müdürüme patronuma oğluma kızıma ehliyetimi fişi zarfı ekrana giriş',
    ),
    after: spaced(
      'lazım gerek gerekiyor hemen bir şimdi önce biraz da de onu ona bunu buna etmem edeyim ediyorum ben',
    ),
  },
  corrections: listed(
    'hayır pardon|pardon hayır|yok pardon|hayır yani|yani hayır|yok yok|hayır özür dilerim|daha doğrusu|yok hayır|demek istediğim|hayır şey|hayır dur|hayır durun|yok dur|yok durun',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`numara|rakam|referans|hane|şifre|\bkod|hecele|harf harf|e-?posta|e-?mail|plaka|\b(?:pin|iban)\b`,
    spelled: String.raw`hecele|harf harf|kodla`,
    counted: 'hane\\p{L}*|rakam\\p{L}*|basamak\\p{L}*|karakter\\p{L}*|harf\\p{L}*',
    values: spaced(
      'sıfır bir iki üç dört beş altı yedi sekiz dokuz on onbir oniki onüç ondört onbeş onaltı onyedi onsekiz ondokuz',
      'yirmi yirmibir yirmiiki yirmiüç yirmidört yirmibeş yirmialtı yirmiyedi yirmisekiz yirmidokuz otuz',
    ),
    digits: [],
    tens: spaced('on kırk elli altmış yetmiş seksen doksan'),
    pairs: [],
    double: ['çift'],
    triple: [],
    between: spaced('ve tire nokta boşluk eksi ıı ııı ee eee sonra'),
    mailAsked: 'e-?posta|e-?mail|mail adres',
    joints: spaced('nokta tire alttan alt çizgi'),
    ats: spaced('et at kuyruklu'),
  },
  sentences: {
    abbreviations: spaced('sn dr prof doç av no tel vb vs sok cad mah apt'),
    lastAbbreviations: spaced('vb vs'),
    openers: spaced('ben sen o biz siz bu şu ve ama lütfen evet hayır'),
    leadsOn: spaced('ve veya ya ama ile için gibi bir bu şu o çok daha en'),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'evet|tamam|olur|tabii|tabi|elbette|onaylıyorum|onay|doğru|peki|yapın|yap|devam edin|devam et',
      'lütfen yapın|kesinlikle|uygun|aynen',
    ),
    no: listed(
      'hayır|yok|olmaz|istemiyorum|yapma|yapmayın|dur|durun|bekle|bekleyin|iptal|vazgeç|vazgeçtim',
      'yanlış|onaylamıyorum|değil|gerek yok|boş ver|boş verin|boşver|boşverin|etme|etmeyin|etmeyiniz|edilmesin|silme|silmeyin|durdurma|durdurmayın|istemem',
      'tabii ki hayır|tabi ki hayır|kesinlikle hayır|elbette hayır|tabii hayır|tabii ki değil|kesinlikle olmaz|elbette olmaz|tabii ki olmaz|tabii ki istemem',
    ),
    firmYes: listed('evet|elbette|kesinlikle'),
    // The verb stands last.
    order: /(?:[ıiuü]n(?:[ıiuü]z)?|[ae]l[ıi]m)$/u,
    told: /(?:yor(?:um|uz|sun|sunuz)?|[dt][ıiuü](?:m|k)?|[ae]c[ae](?:ğ[ıi]m|ğ[ıi]z|k))$/u,
    accepts: listed(
      'tabii ki|tabi ki|öyle|çok iyi olur|çok memnun olurum|çok makbule geçer|makbule geçer|aynen öyle|istediğim bu|bence de',
      'hay hay|çok isterim|bunu isterim|bunu istiyorum|evet istiyorum|kabul ediyorum|kabul|memnun olurum|sevinirim|çok sevinirim|iyi olur',
      'güzel olur|çok güzel olur|harika olur|süper olur|öyle yapalım|yapalım|öyle yapın|bunu yapın|yapabilirsiniz|devam edebilirsiniz',
      'rica ederim|rica edeceğim|zahmet olmazsa|mümkünse|memnuniyetle|eminim|bana uyar|katılıyorum|iyi fikir',
    ),
    wishes: listed('isterim|istiyorum'),
    courtesies: listed(
      'benim için|oh|ah|hm|hmm',
      'ee|eee|şey|yani|lütfen|teşekkürler|teşekkür ederim|çok teşekkürler|çok teşekkür ederim|teşekkür|sağol|sağ ol|sağ olun|çok sağ olun|efendim',
      'hanımefendi|beyefendi|canım|harika|süper|güzel|mükemmel|çok iyi|çok güzel',
    ),
    light: spaced('bunu onu ben o zaman ve dedim'),
    tellers: spaced('ben biz sen siz benim bizim'),
    openers: spaced('ve bir'),
    hedges: spaced(
      'ettim ettik etmiştim ediyorum edeceğim ama fakat ancak eğer belki sanırım galiba yerine aslında önce sonra başka',
      'yalnız sadece veya ya ne nasıl hangi neden niye kaç kim nerede mi mı mu mü',
      'biliyorum anladım anlıyorum duydum duyuyorum dinliyorum görüyorum buradayım merhaba alo hâlâ hala herhalde muhtemelen sorum soru sormak merak umarım var daha tekrar bakalım anlatın açıklayın söyleyin dinleyin dakika',
    ),
    details: spaced(
      'iki üç dört beş altı yedi sekiz dokuz on yirmi otuz buçuk bugün yarın sabah akşam öğlen hafta gelecek saat pazartesi salı çarşamba perşembe cuma cumartesi',
      'pazar kişi kişilik de da',
    ),
    noRefusal: listed(
      'sorun yok|sorun değil|problem değil|problem yok|sıkıntı yok|neden olmasın|itirazım yok|zahmet olmazsa',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|iptal)/u,
        said: listed('iptal|iptal et|iptal edin|iptal ediniz|iptal edelim|bunu iptal edin|bunu iptal et'),
        clear: listed(
          'iptal edebilirsiniz|iptal edebilirsin|onu iptal edin|onu iptal et|lütfen iptal edin|lütfen iptal et|iptal edin lütfen|iptal et lütfen',
        ),
      },
      {
        tool: /(?:^| )(?:stop|durdur|paus)/u,
        said: listed('dur|durun|durdur|durdurun|durdurunuz'),
        clear: listed('onu durdurun|lütfen durdurun|durdurun lütfen|durdurabilirsiniz'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|sil(?:me)?(?: |$))/u,
        said: listed('sil|silin|siliniz|kaldır|kaldırın'),
        clear: listed(
          'onu silin|onu sil|lütfen silin|silin lütfen|silebilirsiniz|silebilirsin|lütfen kaldırın',
        ),
      },
    ],
  },
};
