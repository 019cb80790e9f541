import { listed } from '../../../../shared/base/listed.ts';

export const turkish = {
  nods: listed(
    'öyle mi|gerçekten mi|bunu bilmek güzel|ilginç|ne kadar ilginç|ah ne güzel|vay be|vay canına|bu harika|bu güzel|çok iyi|bu ilginç|ha anladım|ha tamam|peki o zaman|çok güzel|ah iyi|ah harika|iyi bari',
    'iyi oldu|sevindim|buna sevindim|duyduğuma sevindim|ne mutlu|muhteşem|mükemmel|şahane|enfes|fevkalade|müthiş|süpermiş|harikaymış|güzelmiş|iyiymiş|çok iyiymiş|ne hoş',
    'kulağa hoş geliyor|iyi görünüyor|bana uyar|bana uygun|uygun benim için|bu olur|bu bana uyar|o da olur|olur tabii|tamam süper|tamam harika|tamam güzel|tamam iyi|tamam oldu|bu doğru|o doğru|doğru tabii|haklısınız|çok haklısınız',
    'doğru söylüyorsunuz|bu mantıklı|mantıklı|gayet mantıklı|çok mantıklı|çok faydalı|çok ilginç|gerçekten ilginç|aman tanrım|allah allah|aman ya|hadi ya|yapma ya|deme ya|ciddi misiniz|cidden mi|sahi mi|ya öyle mi|demek öyle',
    'demek öyleymiş|ha öyle|öyleymiş|evet öyle|evet doğru|evet tabii|evet evet tabii|evet aynen|evet anladım|evet anlıyorum|evet güzel|evet kesinlikle|tamam evet|tam olarak|aynen dediğiniz gibi|güzel fikir|iyi fikir|çok iyi fikir',
    'şimdi anladım|iyi anladım|çok iyi anladım|anlaşıldı|anlaşıldı tamam|sizi anlıyorum|biliyorum|evet biliyorum|biliyorum tabii|bilmiyordum|bunu bilmiyordum|tahmin etmiştim|öyle düşünmüştüm|ben de öyle düşünmüştüm|katılıyorum|aynı fikirdeyim|fark ettim|ne demek istediğinizi anladım',
    'doğal olarak|doğaldır|tabii canım|elbette ki|kuşkusuz|şüphesiz|hakikaten|gerçekten|gerçekten öyle|çok şükür|neyse ki|allahtan|rahatladım|fena değil|hiç fena değil|problem değil|hiç sorun değil|bir şey değil|eyvallah tamam',
  ),
  interruptions: listed(
    'dur|bekleyin|bir dakika|hayır|hayır hayır|hayır teşekkürler|o değil|affedersiniz|pardon|efendim anlamadım|ne|ne dediniz|tekrar eder misiniz|tekrar edin lütfen|daha yavaş|daha yüksek sesle|sizi duyamıyorum|ne demek istiyorsunuz|bu ne',
    'kimsiniz|ne kadar|fiyatı ne kadar|ne kadar sürer|ne zaman|nerede|hangisi|neden olmasın ki|neden|saat kaçta|cuma günü|pazartesi lütfen|saat yedide|dört kişilik|beş olsun|mavi olan|ikincisi|daha ucuz olan|yarın olsun|gelecek hafta',
    'aslında hayır|fikrimi değiştirdim|iptal edin|siparişimi iptal edin|unutun|boş verin|onu istemiyorum|ona ihtiyacım yok|bu yanlış|doğru değil|onu sormadım|benim adım o değil|adım Ayşe|Yılmaz olacak|hayır Demir|salı demek istedim|on beş dedim',
    'bir şey sorabilir miyim|biriyle konuşabilir miyim|gerçek biriyle konuşmak istiyorum|temsilciye bağlayın|bir sorum var|bir soru|başka bir şey|ama ben ödedim|ama bekleyin|ama çok geç|ama neden|evet ama bugün değil|tamam ama ne kadar|yardım lazım|yardım edin|paramı geri istiyorum|ödemek istiyorum',
    'rezervasyon yapmak istiyorum|fatura lazım|e-posta ile gönderin|beni geri arayın|geri dönün|onu atlayın|sonraki|baştan başlayın|susun|beni dinleyin|alo|orada mısınız|otopark var mı|kahvaltı dahil mi|şu an açık mı|ekstra ücret var mı|peki pazar günü|altıda olsun|çok pahalı|çok geç|çok erken',
    'iki bilet|üç gece|manzaralı|soğansız|Ankaraya|havaalanından|kartla|nakit|eşimle|diğer adres|bozuldu|çalışmıyor|acelem var|gitmem lazım|araba kullanıyorum|daha bitirmedim|bitireyim',
  ),
};
